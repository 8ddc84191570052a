{{/* What the values say that can't be: each one a line, with its place and what to do. What the schema can say well is
left to it. */}}

{{- define "cdc-bridge.refuse" -}}
{{- $lines := include "cdc-bridge.problems" . | splitList "\n" | compact -}}
{{- if $lines -}}
{{- $count := eq (len $lines) 1 | ternary "1 problem" (printf "%d problems" (len $lines)) -}}
{{- fail (printf "\n\nThe values have %s:\n%s\n" $count (join "\n" $lines)) -}}
{{- end -}}
{{- end -}}

{{- define "cdc-bridge.problems" -}}
{{- if not .Values.sources }}
  - sources is empty: name at least one source database, with its settings under sources.<name>.settings
{{- end }}
{{- include "cdc-bridge.problems.alerts" . }}
{{- $places := dict }}
{{- $accounts := dict }}
{{- $checkpoints := list }}
{{- $facts := .Files.Get "files/settings.json" | fromJson }}
{{- range $name, $own := .Values.sources }}
{{- if not (regexMatch "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" $name) }}
  - sources[{{ quote $name }}] can't be part of Kubernetes' names: use up to 63 lower-case letters, digits and dashes, with a letter or digit at both ends; settings.name may be anything else
{{- else }}
{{- $source := include "cdc-bridge.source" (dict "root" $ "name" $name) | fromYaml }}
{{- $scope := dict "facts" $facts "source" $source "own" ($own | default dict) "at" (printf "sources.%s" $name) }}
{{- include "cdc-bridge.problems.pod" $scope }}
{{- include "cdc-bridge.problems.settings" $scope }}
{{- include "cdc-bridge.problems.secrets" $scope }}
{{- include "cdc-bridge.problems.places" $scope }}
{{- include "cdc-bridge.problems.spark" $scope }}
{{- range $section, $why := dict "landing_zone" "a landing zone has one bridge; give each its own mirrored database" "state" "a ledger has one bridge; give each its own folder, or remove the key" }}
{{- $url := dig $section "url" "" $source.settings | toString | trimSuffix "/" }}
{{- $place := printf "%s %s" $section $url }}
{{- if and $url (hasKey $places $place) }}
  - sources.{{ $name }}.settings.{{ $section }}.url is that of sources.{{ index $places $place }}, too: {{ $why }}
{{- end }}
{{- $_ := set $places $place $name }}
{{- end }}
{{- if $source.serviceAccount.create }}
{{- $account := $source.serviceAccountName }}
{{- if hasKey $accounts $account }}
  - sources.{{ $name }}.serviceAccount.name is {{ $account }}, the account that sources.{{ index $accounts $account }} makes, too: leave the name out, so that each source has its own, or set serviceAccount.create to false in all of them but one
{{- else }}
{{- $_ := set $accounts $account $name }}
{{- end }}
{{- end }}
{{- if not (include "cdc-bridge.variable" (dict "env" $source.env "path" "state.checkpoint")) }}
{{- $own := dict "source" $name "claim" $source.claimName "folder" (printf "%s/" (clean (toString $source.settings.state.checkpoint))) }}
{{- range $other := $checkpoints }}
{{- if and (eq $own.claim $other.claim) (or (hasPrefix $own.folder $other.folder) (hasPrefix $other.folder $own.folder)) }}
  - sources.{{ $name }}.settings.state.checkpoint is in the claim {{ $own.claim }} and the folder {{ trimSuffix "/" $own.folder }}, where that of sources.{{ $other.source }} is, too: each start would set the other's aside; give each a claim of its own with persistence.existingClaim, or name two folders of which neither lies in the other
{{- end }}
{{- end }}
{{- $checkpoints = append $checkpoints $own }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "cdc-bridge.problems.pod" -}}
{{- $source := .source }}
{{- if hasKey .own "replicas" }}
  - {{ .at }}.replicas can't be set: a landing zone has one writer; for more throughput set executors.enabled and executors.instances
{{- end }}
{{- if hasKey $source.persistence "enabled" }}
  - {{ .at }}.persistence.enabled can't be set: the checkpoint always has a volume that outlives the pod; remove it, and choose the volume by size, storageClass or existingClaim
{{- end }}
{{- if not (or $source.serviceAccount.create $source.serviceAccount.name) }}
  - {{ .at }}.serviceAccount.name is required where serviceAccount.create is false: name the service account to use
{{- end }}
{{- if and $source.workloadIdentity.enabled $source.serviceAccount.create (not $source.workloadIdentity.clientId) }}
  - {{ .at }}.workloadIdentity.clientId is required: write the client id of the managed identity or application that the service account is federated with
{{- end }}
{{- if lt (int $source.terminationGracePeriodSeconds) 60 }}
  - {{ .at }}.terminationGracePeriodSeconds is {{ int $source.terminationGracePeriodSeconds }}: a micro-batch in hand would be cut off and done again; give it at least 60 seconds, longer than the longest micro-batch
{{- else }}
{{- /* Nothing bounds a micro-batch's time but its records: 4,000 a second are a tenth of what one core does with small rows. */}}
{{- $offsets := dig "trigger" "max_offsets" 1000000 $source.settings | int64 }}
{{- $longest := divf $offsets 4000 | ceil | int64 }}
{{- $byVariable := include "cdc-bridge.variable" (dict "env" $source.env "path" "trigger.max_offsets") }}
{{- $unread := or $byVariable (and $source.envFrom (not (dig "trigger" "max_offsets" "" $source.given))) }}
{{- if and (not $unread) (lt (int64 $source.terminationGracePeriodSeconds) $longest) }}
  - {{ .at }}.terminationGracePeriodSeconds is {{ int $source.terminationGracePeriodSeconds }}: a micro-batch of settings.trigger.max_offsets, {{ $offsets }}, may take {{ $longest }} seconds, at 4000 records a second, and would be cut off and done again; raise it, or lower max_offsets
{{- end }}
{{- end }}
{{- /* A number is bytes, and less is refused, by the bridge as well (streaming/settings/runtime.py). */}}
{{- $heap := dig "spark" "driver_memory" "1GiB" $source.settings }}
{{- $mebibytes := include "cdc-bridge.mebibytes" $heap | int }}
{{- if lt $mebibytes 512 }}
  - {{ .at }}.settings.spark.driver_memory is {{ include "cdc-bridge.size" $heap }}{{ if not (kindIs "string" $heap) }} bytes{{ end }}, less than 512MiB: write a number with MiB or GiB, such as 2GiB
{{- end }}
{{- /* What docs/scale-out.md has measured: 200Mi of Java beside its heap, 250Mi of the driver's Python, 300Mi a core. */}}
{{- $limit := dig "limits" "memory" "" $source.resources }}
{{- $threads := regexFind "[0-9]+" (regexFind "^local.[0-9]+" (dig "spark" "master" "" $source.settings)) | default (include "cdc-bridge.cores" $source.resources) }}
{{- $cores := $source.executors.enabled | ternary 0 (int $threads) }}
{{- $least := add $mebibytes 450 (mul 300 $cores) | int }}
{{- if $limit }}
{{- if lt (include "cdc-bridge.mebibytes" $limit | int) $least }}
  - {{ .at }}.resources.limits.memory is {{ include "cdc-bridge.size" $limit }}, less than {{ $least }}Mi: the heap ({{ include "cdc-bridge.size" $heap }} by settings.spark.driver_memory), 450Mi beside it{{ if $cores }}, and 300Mi for each of {{ $cores }} cores; where partitions are merged even more is needed{{ end }}. Raise it, or lower the heap{{ if $cores }} or the cores{{ end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "cdc-bridge.problems.settings" -}}
{{- $scope := . }}
{{- $settings := .source.settings }}
{{- range .facts.required }}
{{- $parts := splitList "." .path }}
{{- $there := or .always (include "cdc-bridge.at" (dict "in" $settings "path" (join "." (initial $parts)))) }}
{{- $found := include "cdc-bridge.at" (dict "in" $settings "path" .path) }}
{{- if and $there (not $found) (not $scope.source.envFrom) (not (include "cdc-bridge.variable" (dict "env" $scope.source.env "path" .path))) }}
  - {{ $scope.at }}.settings.{{ .path }} is required: {{ .description }} Write it there, under defaults.settings, or as {{ include "cdc-bridge.variableName" .path }} under env
{{- end }}
{{- end }}
{{- $kafka := $settings.kafka | default dict }}
{{- $policy := .source.networkPolicy }}
{{- $brokers := include "cdc-bridge.variable" (dict "env" .source.env "path" "kafka.bootstrap_servers") }}
{{- if and $policy.enabled (or $brokers (and .source.envFrom (not $kafka.bootstrap_servers))) (not $policy.egressPorts) (not $policy.extraEgress) }}
  - {{ .at }}.networkPolicy.egressPorts is required: the brokers come from the environment, where the chart can't read their ports, and the policy would let nothing out to them; name the ports there, such as [9092], or write settings.kafka.bootstrap_servers
{{- end }}
{{- $byVariable := or .source.envFrom (include "cdc-bridge.variable" (dict "env" .source.env "path" "kafka.topics")) (include "cdc-bridge.variable" (dict "env" .source.env "path" "kafka.pattern")) }}
{{- if not (or $kafka.topics $kafka.pattern $byVariable) }}
  - {{ .at }}.settings.kafka.topics is required (or pattern): name the topics to read
{{- end }}
{{- if and $kafka.topics $kafka.pattern }}
  - {{ .at }}.settings.kafka.pattern can't be set together with topics: keep one of the two
{{- end }}
{{- $database := include "cdc-bridge.at" (dict "in" $settings "path" "source.database.url") }}
{{- if $database }}
{{- $host := regexReplaceAll ":[0-9]*$" (get (urlParse $database) "host") "" }}
{{- $trusted := or (has $host (list "127.0.0.1" "localhost" "[::1]")) .source.envFrom }}
{{- range list "source.database.ca_file" "source.database.unverified" }}
{{- $trusted = or $trusted (include "cdc-bridge.at" (dict "in" $settings "path" .)) (include "cdc-bridge.variable" (dict "env" $scope.source.env "path" .)) }}
{{- end }}
{{- if not $trusted }}
  - {{ .at }}.settings.source.database.ca_file is required: the database is on another machine, and nothing else tells it from one that stands in for it (or set unverified)
{{- end }}
{{- end }}
{{- if or (not $settings.http.port) (hasPrefix "127." (toString $settings.http.host)) (eq (toString $settings.http.host) "localhost") }}
  - {{ .at }}.settings.http has to let probes and metrics in from outside of the pod: remove host, and give port a number or remove it
{{- end }}
{{- range $scope.source.env }}
{{- if eq (upper .name) "CDC_BRIDGE_HTTP__PORT" }}
  - {{ $scope.at }}.env has {{ .name }}, which ports and probes of the pod don't follow: write it as settings.http.port
{{- end }}
{{- end }}
{{- end -}}

{{- define "cdc-bridge.problems.secrets" -}}
{{- $scope := . }}
{{- $remedy := "put it into a secret, and name that under secretFiles (and its file under settings) or under env" }}
{{- range .facts.secrets }}
{{- $variable := include "cdc-bridge.variableName" . }}
{{- if include "cdc-bridge.at" (dict "in" $scope.source.settings "path" .) }}
  - {{ $scope.at }}.settings.{{ . }} is a secret, which everybody could read in a ConfigMap: {{ $remedy }} as {{ $variable }}
{{- end }}
{{- range $scope.source.env }}
{{- if and (eq .name $variable) .value }}
  - {{ $scope.at }}.env has a value for {{ .name }}, which everybody could read in the pod: give it valueFrom.secretKeyRef instead
{{- end }}
{{- end }}
{{- end }}
{{- range .source.env }}
{{- if and (eq .name "AZURE_CLIENT_SECRET") .value }}
  - {{ $scope.at }}.env has a value for AZURE_CLIENT_SECRET, which everybody could read in the pod: give it valueFrom.secretKeyRef, or use workloadIdentity
{{- end }}
{{- end }}
{{- range $path := list "kafka.client" "kafka.spark" "spark.conf" }}
{{- $parts := splitList "." $path }}
{{- range $key, $value := dig (first $parts) (last $parts) (dict) $scope.source.given }}
{{- if regexMatch "(?i)password|passwd|secret|jaas|account[.]?key|access[.]?key" $key }}
  - {{ $scope.at }}.settings.{{ $path }}[{{ quote $key }}] looks like a secret, which everybody could read in a ConfigMap: {{ $remedy }} as {{ include "cdc-bridge.variableName" $path }}, a JSON object
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "cdc-bridge.problems.places" -}}
{{- $scope := . }}
{{- range .facts.files }}
{{- $file := include "cdc-bridge.at" (dict "in" $scope.source.settings "path" .) }}
{{- $folder := regexFind "^/run/secrets/cdc-bridge/[^/]+" $file | base }}
{{- if and (hasPrefix "/run/secrets/cdc-bridge/" $file) (not (hasKey $scope.source.secretFiles $folder)) }}
  - {{ $scope.at }}.settings.{{ . }} is a file of {{ quote $folder }}, which secretFiles doesn't have: add it there, with the name of the secret
{{- end }}
{{- end }}
{{- if not (hasPrefix "/var/lib/cdc-bridge/" (toString .source.settings.state.checkpoint)) }}
  - {{ .at }}.settings.state.checkpoint lies outside of the volume: name a folder below /var/lib/cdc-bridge, or remove the key
{{- end }}
{{- range $path := list "landing_zone.url" "state.url" }}
{{- $url := include "cdc-bridge.at" (dict "in" $scope.source.settings "path" $path) }}
{{- if hasPrefix "file://" $url }}
{{- $place := trimPrefix "file://" $url }}
{{- $mounted := and (not $scope.source.executors.enabled) (hasPrefix "/var/lib/cdc-bridge/" $place) }}
{{- range $scope.source.extraVolumeMounts }}
{{- if hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) (printf "%s/" $place) }}{{ $mounted = true }}{{ end }}
{{- end }}
{{- if not $mounted }}
  - {{ $scope.at }}.settings.{{ $path }} is a folder that no volume is mounted at{{ if $scope.source.executors.enabled }}, in executors, too{{ end }}: write an abfss:// URL, or mount a volume there with extraVolumes and extraVolumeMounts
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "cdc-bridge.problems.spark" -}}
{{- $executors := .source.executors }}
{{- $master := dig "spark" "master" "" .source.given }}
{{- if and $executors.enabled $master (not (hasPrefix "k8s://" $master)) }}
  - {{ .at }}.settings.spark.master is {{ $master }}, which has no pods as executors: remove it, or set executors.enabled to false
{{- end }}
{{- if and (not $executors.enabled) (hasPrefix "k8s://" $master) }}
  - {{ .at }}.settings.spark.master is {{ $master }}, but the pod may not ask for executors: remove it, and set executors.enabled to true
{{- end }}
{{- $overhead := add 200 (mul 300 (int $executors.cores)) | int }}
{{- if and $executors.enabled (lt (include "cdc-bridge.mebibytes" (printf "%siB" $executors.memoryOverhead) | int) $overhead) }}
  - {{ .at }}.executors.memoryOverhead is {{ $executors.memoryOverhead }}, less than {{ $overhead }}m: 200m of Java beside its heap, and 300m for each of {{ int $executors.cores }} cores; where partitions are merged even more is needed. Raise it, or lower executors.cores
{{- end }}
{{- if gt (int $executors.dynamicAllocation.min) (int $executors.dynamicAllocation.max) }}
  - {{ .at }}.executors.dynamicAllocation.min is more than max: lower min or raise max
{{- end }}
{{- end -}}

{{- define "cdc-bridge.problems.alerts" -}}
{{- $limits := dict }}
{{- range (.Files.Get "files/rules.yaml" | fromYaml).groups }}
{{- range .rules }}
{{- if .alert }}{{ $_ := set $limits .alert (regexFind "[<>]=? [0-9.]+$" .expr) }}{{ end }}
{{- end }}
{{- end }}
{{- range $name, $own := .Values.monitoring.prometheusRule.alerts }}
{{- if not (hasKey $limits $name) }}
  - monitoring.prometheusRule.alerts.{{ $name }} is none of the chart's alerts: files/rules.yaml has their names
{{- else if and (hasKey ($own | default dict) "threshold") (not (get $limits $name)) }}
  - monitoring.prometheusRule.alerts.{{ $name }}.threshold can't be set: the alert compares with no number that could be another one; remove the key
{{- end }}
{{- end }}
{{- end -}}

{{/* The text of a value at a dotted path, empty where there is none. Takes (dict "in" map "path" "a.b"). */}}
{{- define "cdc-bridge.at" -}}
{{- $node := .in -}}
{{- range splitList "." .path -}}
{{- if kindIs "map" $node }}{{ $node = get $node . }}{{ else }}{{ $node = "" }}{{ end -}}
{{- end -}}
{{- if $node }}{{ kindIs "map" $node | ternary "there" (toString $node) }}{{ end -}}
{{- end -}}

{{/* CDC_BRIDGE_KAFKA__BOOTSTRAP_SERVERS for kafka.bootstrap_servers. */}}
{{- define "cdc-bridge.variableName" -}}
CDC_BRIDGE_{{ . | upper | replace "." "__" }}
{{- end -}}

{{/* Not empty where the environment gives a key, or a section around it. Takes (dict "env" list "path" "a.b"). */}}
{{- define "cdc-bridge.variable" -}}
{{- $full := include "cdc-bridge.variableName" .path -}}
{{- range .env -}}
{{- if or (eq (upper .name) $full) (hasPrefix (printf "%s__" (upper .name)) $full) }}given{{ end -}}
{{- end -}}
{{- end -}}
