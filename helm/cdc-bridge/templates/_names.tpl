{{/* Names and labels. A name is at most 47 characters: Spark and controllers put up to 16 more behind it, and 63 is the
limit of a label. A service's name starts with a letter. */}}

{{- define "cdc-bridge.short" -}}
{{- if gt (len .) 47 -}}
{{- printf "%s-%s" (trunc 38 . | trimSuffix "-") (sha256sum . | trunc 8) -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{- define "cdc-bridge.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "cdc-bridge.fullname" -}}
{{- $name := include "cdc-bridge.name" . -}}
{{- $full := .Values.fullnameOverride -}}
{{- if not $full -}}
{{- $full = contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- end -}}
{{- if regexMatch "^[0-9]" $full }}{{ $full = printf "r%s" $full }}{{ end -}}
{{- $full -}}
{{- end -}}

{{/* Labels that never change: what selectors use. Takes root. */}}
{{- define "cdc-bridge.selector" -}}
app.kubernetes.io/name: {{ include "cdc-bridge.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* All labels of an object; those that selectors use can't be replaced. Takes (dict "root" $), and for one source's objects
"source" and "component", too; "extra" are further labels. */}}
{{- define "cdc-bridge.labels" -}}
{{- $chart := .root.Chart -}}
{{- $labels := dict
      "app.kubernetes.io/version" $chart.AppVersion
      "app.kubernetes.io/part-of" "cdc-bridge"
      "app.kubernetes.io/managed-by" .root.Release.Service
      "helm.sh/chart" (printf "%s-%s" $chart.Name $chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{- $fixed := hasKey . "source" | ternary "cdc-bridge.source.selector" "cdc-bridge.selector" -}}
{{- $fixed = include $fixed (hasKey . "source" | ternary . .root) | fromYaml -}}
{{- mergeOverwrite $labels .root.Values.commonLabels (.extra | default dict) $fixed | toYaml -}}
{{- end -}}

{{/* Selector of one source's pods, of one component where it is given. */}}
{{- define "cdc-bridge.source.selector" -}}
{{ include "cdc-bridge.selector" .root }}
cdc-bridge/source: {{ .source.name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* Takes (dict "root" $), and further annotations as "extra". */}}
{{- define "cdc-bridge.annotations" -}}
{{- with mergeOverwrite (dict) .root.Values.commonAnnotations (.extra | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
