{{- /* What the tunnel gateway, its worker and its edges share. */ -}}
{{- define "gatehouse.tunnelEnv" -}}
TUNNEL_EDGE: separate
TUNNEL_EDGE_CHANNEL: {{ include "gatehouse.name" . }}-tunnel-edge:8025
TUNNEL_AGENT_PORT: "8024"
TUNNEL_HTTP_PORT: "8880"
TUNNEL_HTTPS_PORT: "8443"
TUNNEL_PUBLIC_HTTPS_PORT: {{ .Values.tunnelEdge.service.httpsPort | quote }}
TUNNEL_PUBLIC_ADDRESS: {{ .Values.tunnelGateway.publicAddress | quote }}
TUNNEL_GATEWAY_PUBLIC_URL: {{ .Values.tunnelGateway.publicUrl | quote }}
PORT_RANGE: "{{ .Values.tunnelEdge.portRange.from }}-{{ .Values.tunnelEdge.portRange.to }}"
{{- end -}}
