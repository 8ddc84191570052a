{{/* One source: the defaults with its own values over them, its names, and its settings. Takes (dict "root" $ "name"
$name), gives YAML: {{ $source := include "cdc-bridge.source" (dict "root" $ "name" $name) | fromYaml }} */}}

{{- define "cdc-bridge.source" -}}
{{- $own := index .root.Values.sources .name | default dict -}}
{{- $source := mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own) -}}
{{- $fullname := printf "%s-%s" (include "cdc-bridge.fullname" .root) .name | include "cdc-bridge.short" -}}
{{- $image := $source.image -}}
{{- $reference := printf "%s:%s" $image.repository (toString ($image.tag | default .root.Chart.AppVersion)) -}}
{{- if $image.digest }}{{ $reference = printf "%s@%s" $image.repository $image.digest }}{{ end -}}
{{- $names := dict
      "name" .name
      "fullname" $fullname
      "reference" $reference
      "serviceAccountName" ($source.serviceAccount.name | default $fullname)
      "claimName" ($source.persistence.existingClaim | default (printf "%s-checkpoint" $fullname))
      "driverHost" (printf "%s.%s.svc" $fullname .root.Release.Namespace) -}}
{{- $source = mergeOverwrite $source $names -}}
{{- $given := $source.settings | default dict -}}
{{- $chart := include "cdc-bridge.source.chartSettings" (dict "root" .root "source" $source) | fromYaml -}}
{{- $_ := set $source "given" $given -}}
{{- $_ := set $source "settings" (mergeOverwrite $chart (deepCopy $given)) -}}
{{- toYaml $source -}}
{{- end -}}

{{/* What the chart knows better than the settings' own defaults; what is written there wins. */}}
{{- define "cdc-bridge.source.chartSettings" -}}
name: {{ .source.name | quote }}
http:
  host: 0.0.0.0
  port: 8080
log:
  format: json
state:
  checkpoint: /var/lib/cdc-bridge/checkpoint
spark:
  {{- if .source.executors.enabled }}
  master: k8s://https://kubernetes.default.svc
  conf:
    {{- include "cdc-bridge.source.executorConf" . | nindent 4 }}
  {{- else }}
  # Java sees every core of the node where no limit holds it back; each core in use needs a Python worker's memory.
  master: local[{{ include "cdc-bridge.cores" .source.resources }}]
  {{- end }}
{{- end -}}

{{/* Spark in client mode: this pod is the driver, asks for executors and is found by its service's name. Neither services,
claims nor config maps are made or deleted, so the driver needs no right to. */}}
{{- define "cdc-bridge.source.executorConf" -}}
{{- $executors := .source.executors -}}
spark.driver.host: {{ .source.driverHost }}
spark.driver.bindAddress: 0.0.0.0
spark.driver.port: "7078"
spark.driver.blockManager.port: "7079"
spark.blockManager.port: "7079"
# Whoever reaches the driver's ports could ask it for its properties. On Kubernetes Spark makes a secret for each start and
# hands it to the executors in their environment.
spark.authenticate: "true"
spark.network.crypto.enabled: "true"
spark.network.crypto.authEngineVersion: "2"
spark.network.crypto.cipher: AES/GCM/NoPadding
spark.network.crypto.saslFallback: "false"
spark.executor.cores: {{ $executors.cores | int | quote }}
spark.executor.memory: {{ $executors.memory }}
spark.executor.memoryOverhead: {{ $executors.memoryOverhead }}
{{- if $executors.dynamicAllocation.enabled }}
spark.dynamicAllocation.enabled: "true"
spark.dynamicAllocation.shuffleTracking.enabled: "true"
spark.dynamicAllocation.minExecutors: {{ $executors.dynamicAllocation.min | int | quote }}
spark.dynamicAllocation.maxExecutors: {{ $executors.dynamicAllocation.max | int | quote }}
# What a micro-batch has shuffled is of no use to the next one: without a limit it keeps every executor for half an hour.
spark.dynamicAllocation.shuffleTracking.timeout: 60s
{{- else }}
spark.executor.instances: {{ $executors.instances | int | quote }}
{{- end }}
spark.kubernetes.namespace: {{ .root.Release.Namespace }}
spark.kubernetes.driver.pod.name: {{ include "cdc-bridge.source.driverPod" .source }}
spark.kubernetes.driver.service.deleteOnTermination: "false"
spark.kubernetes.driver.ownPersistentVolumeClaim: "false"
spark.kubernetes.container.image: {{ .source.reference }}
spark.kubernetes.container.image.pullPolicy: {{ .source.image.pullPolicy }}
spark.kubernetes.executor.podTemplateFile: /etc/cdc-bridge/executor.yaml
spark.kubernetes.executor.podTemplateContainerName: executor
spark.kubernetes.executor.disableConfigMap: "true"
# From Spark 4.1 on, executors would dial the address that the driver binds to.
spark.kubernetes.executor.useDriverPodIP: "false"
{{- with $executors.requestCores }}
spark.kubernetes.executor.request.cores: {{ . | quote }}
{{- end }}
{{- with $executors.limitCores }}
spark.kubernetes.executor.limit.cores: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* The operator names a driver's pod after the application. */}}
{{- define "cdc-bridge.source.driverPod" -}}
{{- eq .mode "SparkApplication" | ternary (printf "%s-driver" .fullname) (printf "%s-0" .fullname) -}}
{{- end -}}

{{/* The files of the source's ConfigMap; a change of them restarts the pod. */}}
{{- define "cdc-bridge.source.files" -}}
bridge.yaml: |
  {{- toYaml .source.settings | nindent 2 }}
{{- if .source.executors.enabled }}
executor.yaml: |
  {{- include "cdc-bridge.executorPod" . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Whole cores of a container's resources: what it may use, else what it asks for, at least one. */}}
{{- define "cdc-bridge.cores" -}}
{{- $cpu := dig "limits" "cpu" (dig "requests" "cpu" "1" .) . | toString -}}
{{- $cores := hasSuffix "m" $cpu | ternary (divf (trimSuffix "m" $cpu) 1000) (float64 $cpu) -}}
{{- max 1 (ceil $cores | int) -}}
{{- end -}}

{{/* A size as it is written. YAML's numbers are floats here, and 4294967296 would be 4.294967296e+09. */}}
{{- define "cdc-bridge.size" -}}
{{- kindIs "string" . | ternary . (int64 . | toString) -}}
{{- end -}}

{{/* Mebibytes of a Kubernetes quantity (4Gi, 500M, 4e9), a size of the settings (2GiB) or a number, which is bytes. */}}
{{- define "cdc-bridge.mebibytes" -}}
{{- $text := include "cdc-bridge.size" . -}}
{{- $number := regexFind "^[0-9.]+([eE][0-9]+)?" $text | float64 -}}
{{- $unit := regexFind "[A-Za-z]+$" $text | lower | trimSuffix "b" -}}
{{- $bytes := dict "" 1.0 "k" 1e3 "m" 1e6 "g" 1e9 "t" 1e12 "ki" 1024.0 "mi" 1048576.0 "gi" 1073741824.0 "ti" 1099511627776.0 -}}
{{- divf (mulf $number (index $bytes $unit)) 1048576.0 | floor | int -}}
{{- end -}}
