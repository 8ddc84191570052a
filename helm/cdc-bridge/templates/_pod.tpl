{{/* Pods of a source: the bridge's, which is Spark's driver, an executor's, and the check's. All take (dict "root" $
"source" $source). */}}

{{/* What every pod has in common. */}}
{{- define "cdc-bridge.podSpec" -}}
serviceAccountName: {{ .source.serviceAccountName }}
# Variables of services would look like settings.
enableServiceLinks: false
securityContext:
  {{- toYaml .source.podSecurityContext | nindent 2 }}
{{- with .source.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where a pod may run. Takes (dict "values" $values "alike" $labels): the values that say so, and the labels of the pods
that are spread where a constraint names none. */}}
{{- define "cdc-bridge.placement" -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with index $.values $key }}
{{ dict $key . | toYaml }}
{{- end }}
{{- end }}
{{- with .values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- if not (hasKey . "labelSelector") }}{{ $_ := set . "labelSelector" (dict "matchLabels" $.alike) }}{{ end }}
  - {{ toYaml . | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Labels of a pod, with "extra" among them. */}}
{{- define "cdc-bridge.podLabels" -}}
{{- $identity := .source.workloadIdentity.enabled | ternary (dict "azure.workload.identity/use" "true") dict -}}
{{- include "cdc-bridge.labels" (merge (dict "extra" (mergeOverwrite (dict) (.extra | default dict) $identity)) .) -}}
{{- end -}}

{{/* Environment of the values, behind the variables of "own". */}}
{{- define "cdc-bridge.env" -}}
{{- with concat (.own | default list) (.source.env | default list) }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .source.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Mounts of secrets, of whatever else is asked for, and of a place to write. */}}
{{- define "cdc-bridge.mounts" -}}
- name: scratch
  mountPath: /tmp
{{- range $folder, $secret := .source.secretFiles }}
- name: {{ printf "secret-%s" $folder }}
  mountPath: /run/secrets/cdc-bridge/{{ $folder }}
  readOnly: true
{{- end }}
{{- with .source.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "cdc-bridge.volumes" -}}
- name: scratch
  emptyDir:
    sizeLimit: {{ .source.scratch.sizeLimit }}
{{- range $folder, $secret := .source.secretFiles }}
- name: {{ printf "secret-%s" $folder }}
  secret:
    secretName: {{ $secret }}
    defaultMode: 288
{{- end }}
{{- with .source.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The bridge's pod: metadata and spec, for a StatefulSet or as the driver's template of a SparkApplication. */}}
{{- define "cdc-bridge.driverPod" -}}
{{- $driver := merge (dict "component" "driver" "extra" .source.podLabels) . -}}
{{- $probes := .source.probes -}}
{{- $application := eq .source.mode "SparkApplication" -}}
metadata:
  labels:
    {{- include "cdc-bridge.podLabels" $driver | nindent 4 }}
  annotations:
    {{- $own := dict
          "checksum/settings" (include "cdc-bridge.source.files" . | sha256sum)
          "kubectl.kubernetes.io/default-container" (include "cdc-bridge.driverContainer" .source) }}
    {{- mergeOverwrite (dict) .source.podAnnotations $own | toYaml | nindent 4 }}
spec:
  {{- include "cdc-bridge.podSpec" . | nindent 2 }}
  # Only who asks for executors talks to the API server.
  automountServiceAccountToken: {{ .source.executors.enabled }}
  terminationGracePeriodSeconds: {{ .source.terminationGracePeriodSeconds | int }}
  {{- $alike := merge (dict "app.kubernetes.io/component" "driver") (include "cdc-bridge.selector" .root | fromYaml) }}
  {{- with include "cdc-bridge.placement" (dict "values" .source "alike" $alike) | trim }}{{ . | nindent 2 }}{{ end }}
  containers:
    - name: {{ include "cdc-bridge.driverContainer" .source }}
      image: {{ .source.reference }}
      imagePullPolicy: {{ .source.image.pullPolicy }}
      {{- if not $application }}
      args: [cdc-bridge, run, /etc/cdc-bridge/bridge.yaml]
      {{- end }}
      {{- /* The image has a variable for the port, which wins over the settings' file. */}}
      {{- $port := dict "name" "CDC_BRIDGE_HTTP__PORT" "value" (.source.settings.http.port | int | toString) }}
      {{- include "cdc-bridge.env" (merge (dict "own" (list $port)) .) | trim | nindent 6 }}
      ports:
        - name: http
          containerPort: {{ .source.settings.http.port | int }}
        {{- if and .source.executors.enabled (not $application) }}
        - name: driver-rpc
          containerPort: 7078
        - name: driver-blocks
          containerPort: 7079
        {{- end }}
      startupProbe:
        httpGet: {path: /startupz, port: http}
        {{- toYaml $probes.startup | nindent 8 }}
      livenessProbe:
        httpGet: {path: /livez, port: http}
        {{- toYaml $probes.liveness | nindent 8 }}
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        {{- toYaml $probes.readiness | nindent 8 }}
      resources:
        {{- toYaml .source.resources | nindent 8 }}
      securityContext:
        {{- toYaml .source.securityContext | nindent 8 }}
      volumeMounts:
        - name: settings
          mountPath: /etc/cdc-bridge
          readOnly: true
        - name: checkpoint
          mountPath: /var/lib/cdc-bridge
        {{- include "cdc-bridge.mounts" . | nindent 8 }}
  volumes:
    - name: settings
      configMap:
        name: {{ .source.fullname }}
    - name: checkpoint
      persistentVolumeClaim:
        claimName: {{ .source.claimName }}
    {{- include "cdc-bridge.volumes" . | nindent 4 }}
{{- end -}}

{{/* A pod for commands beside the bridge, with its settings, secrets, identity and place, and with its volume where
"volume" is not empty. Takes "component", "args", "resources", "annotations" and labels as "extra", too. */}}
{{- define "cdc-bridge.commandPod" -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ printf "%s-%s" .source.fullname .component }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "cdc-bridge.podLabels" . | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "cdc-bridge.podSpec" . | nindent 2 }}
  automountServiceAccountToken: false
  restartPolicy: Never
  {{- with include "cdc-bridge.placement" (dict "values" (omit .source "topologySpreadConstraints")) | trim }}{{ . | nindent 2 }}{{ end }}
  containers:
    - name: {{ .component }}
      image: {{ .source.reference }}
      imagePullPolicy: {{ .source.image.pullPolicy }}
      args: {{ toJson .args }}
      {{- with include "cdc-bridge.env" . | trim }}{{ . | nindent 6 }}{{ end }}
      resources:
        {{- toYaml .resources | nindent 8 }}
      securityContext:
        {{- toYaml .source.securityContext | nindent 8 }}
      volumeMounts:
        - name: settings
          mountPath: /etc/cdc-bridge
          readOnly: true
        {{- if .volume }}
        - name: checkpoint
          mountPath: /var/lib/cdc-bridge
        {{- else }}
        - name: scratch
          mountPath: /var/lib/cdc-bridge
          subPath: checkpoint
        {{- end }}
        {{- include "cdc-bridge.mounts" . | nindent 8 }}
  volumes:
    - name: settings
      configMap:
        name: {{ .source.fullname }}
    {{- if .volume }}
    - name: checkpoint
      persistentVolumeClaim:
        claimName: {{ .source.claimName }}
    {{- end }}
    {{- include "cdc-bridge.volumes" . | nindent 4 }}
{{- end -}}

{{/* The operator looks for the driver's container by this name. */}}
{{- define "cdc-bridge.driverContainer" -}}
{{- eq .mode "SparkApplication" | ternary "spark-kubernetes-driver" "bridge" -}}
{{- end -}}

{{/* Template of executor pods, which Spark completes: command, cores, memory, ports, names. Executors write files to the
landing zone, so they have the source's identity, but no token for the API server. Spark puts jars into the folder
that they work in. */}}
{{- define "cdc-bridge.executorPod" -}}
{{- $executors := .source.executors -}}
apiVersion: v1
kind: Pod
metadata:
  labels:
    {{- include "cdc-bridge.podLabels" (merge (dict "component" "executor" "extra" $executors.labels) .) | nindent 4 }}
  {{- with $executors.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "cdc-bridge.podSpec" . | nindent 2 }}
  automountServiceAccountToken: false
  {{- $alike := include "cdc-bridge.source.selector" (merge (dict "component" "executor") .) | fromYaml }}
  {{- with include "cdc-bridge.placement" (dict "values" $executors "alike" $alike) | trim }}{{ . | nindent 2 }}{{ end }}
  containers:
    - name: executor
      image: {{ .source.reference }}
      workingDir: /tmp
      {{- with include "cdc-bridge.env" . | trim }}{{ . | nindent 6 }}{{ end }}
      securityContext:
        {{- toYaml .source.securityContext | nindent 8 }}
      volumeMounts:
        {{- include "cdc-bridge.mounts" . | nindent 8 }}
  volumes:
    {{- include "cdc-bridge.volumes" . | nindent 4 }}
{{- end -}}
