"""How summaries name what an alert is about: templates of Prometheus'."""

from __future__ import annotations

BRIDGE = "The bridge of {{ or $labels.source $labels.job }}"
SOURCE = "{{ or $labels.source $labels.job }}"
# One series for all tables, or all topics, is labelled *.
TABLE = '{{ if eq $labels.table "*" }}At least one table{{ else }}Table {{ $labels.table }}{{ end }} of ' + SOURCE
TOPIC = '{{ if eq $labels.topic "*" }}a topic{{ else }}topic {{ $labels.topic }}{{ end }}'
REASON = "{{ $labels.reason }}"
DURATION = "{{ $value | humanizeDuration }}"
