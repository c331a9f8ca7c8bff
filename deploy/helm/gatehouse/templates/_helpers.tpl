{{- define "gatehouse.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "gatehouse.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "gatehouse.secret" -}}
{{- required "existingSecret: name a Secret with GATEHOUSE_SECRET_KEY, GATEHOUSE_ADMIN_PASSWORD, DATABASE_URL, REDIS_URL and PROXY_KERNEL_USERS" .Values.existingSecret -}}
{{- end -}}

{{- /* Labels of one component: dict "root" $ "component" "proxy-gateway". */ -}}
{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: gatehouse
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{- /* Variables from the Secret: dict "root" $ "keys" (list …). */ -}}
{{- define "gatehouse.secretEnv" -}}
{{- range .keys }}
- name: {{ . }}
  valueFrom:
    secretKeyRef:
      name: {{ include "gatehouse.secret" $.root }}
      key: {{ . }}
{{- end }}
{{- end -}}

{{- define "gatehouse.commonEnv" -}}
- name: NODE_ENV
  value: production
- name: GATEHOUSE_HOME
  value: /var/lib/gatehouse
- name: LOG_LEVEL
  value: {{ .Values.logLevel | quote }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- /* Where services and workers send traces; nothing without an address. */ -}}
{{- define "gatehouse.tracesEnv" -}}
{{- with .Values.traces -}}
{{- if .endpoint -}}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
- name: OTEL_TRACES_SAMPLER
  value: {{ .sampler | quote }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ .samplerArg | quote }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ include "gatehouse.secret" $ }}
      key: OTEL_EXPORTER_OTLP_HEADERS
      optional: true
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.plainEnv" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "gatehouse.podSpec" -}}
automountServiceAccountToken: false
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "gatehouse.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "gatehouse.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "gatehouse.selector" . | nindent 8 }}
{{- end -}}
