export { TunnelError, type TunnelErrorCode } from './errors.js';
export {
  agentKeyHash,
  certificateFingerprint,
  createAgentSecret,
  formatAgentKey,
  parseAgentKey,
} from './wire/key-string.js';
export { der } from './wire/der.js';
export { agentRouteTag, openingWorker, readRouteTag, routeTagOf } from './wire/route-tag.js';
export { createServerIdentity, type FormerIdentity, type ServerIdentity } from './wire/server-identity.js';
export type { AgentDialer, ClientRecord, ClientStore, HostAndPort, TunnelLogger } from './environment.js';
export {
  EMPTY_CONFIG,
  MAX_RANGE_PORTS,
  mayHaveRange,
  TUNNEL_MODES,
  type ClientConfig,
  type HealthCheckConfig,
  type HostConfig,
  type HostRedirect,
  type HostTarget,
  type IpPatternKind,
  type IpRuleConfig,
  type IpRuleScope,
  type OAuthEndpoints,
  type PortRange,
  type TunnelConfig,
  type TunnelMode,
  type TunnelServerConfig,
  type VisitorOAuthClient,
  type VisitorPolicyConfig,
  type VisitorPolicyType,
} from './config.js';
export type { ResourceKind, ResourceRef } from './resource.js';
export { AddressSet, type AddressRange } from './access/address-set.js';
export { IpPatternError, parseAddressRange, parseIpPattern } from './access/ip-pattern.js';
export { parseRuleMethod, parseRulePath, RequestCondition, type RequestFacts } from './access/request-condition.js';
export { readTarget } from './vhost/request-target.js';
export {
  IpRules,
  type AccessPoint,
  type AsnLookup,
  type CountryLookup,
  type IpExplanation,
  type IpRuleOptions,
  type ListLookup,
  type LevelExplanation,
} from './access/ip-rules.js';
export { TrustedProxies } from './access/trusted-proxies.js';
export { ADMISSION_REFUSALS, type AdmissionRefusal, type Refusals } from './access/gate.js';
export type { AgentPortState } from './session/unknown-connections.js';
export type { DeniedVisitors } from './access/refusal-sampler.js';
export type { GatewayAnswer, Verdict } from './access/visitor-verifier.js';
export { MemoryGrantStore, type GrantChange, type GrantKey, type VisitorGrant } from './verification/grants.js';
export type { FailedVisitors, VerificationOptions } from './verification/verification-options.js';
export { discoverOAuthServer } from './verification/oauth-discovery.js';
export { TunnelVisits, visitedTunnel, type VisitStanding } from './verification/tunnel-visits.js';
export { visitorRefusal } from './verification/login-page.js';
export type { Tries } from './verification/try-limit.js';
export { readVisitorRequest } from './verification/visitor-request.js';
export { TunnelServer } from './server.js';
export type { PeerAddress, PeerOptions, PeerState } from './peers/peer-options.js';
export type { PeerServers } from './peers/peer-servers.js';
export type { TargetCheck } from './target-check.js';
export type { TargetCheckState } from './vhost/target-failure.js';
export type { AgentState, ServerEvents, TunnelServerEnvironment } from './server-environment.js';
export type { TunnelState } from './modes/entrance-table.js';
export { TunnelAgent } from './agent.js';
export type { AgentStatus, TunnelAgentEnvironment } from './agent-connection.js';
export type { VisitorHits } from './visitor-ledger.js';
export type { FlowDelta, FlowRecord } from './flow-ledger.js';
export type { HeldBack } from './limits/rate-limits.js';
export type { QuotaKind, TrafficQuota } from './limits/traffic-quotas.js';
export type { AgentTransport } from './session/route-chooser.js';
export { formatWebSocketAddress, parseWebSocketAddress, type WebSocketAddress } from './websocket/handshake.js';
export type { AgentHost, AgentTunnel, EdgeAddress, EdgesMessage, FileRoot } from './wire/messages.js';
export { systemDialer } from './dial.js';
export type { DatagramState } from './datagrams/server-datagrams.js';
export { DestinationRules } from './agent/destination-rules.js';
export type { HttpOptions, HttpsPortState } from './vhost/http-gateway.js';
export { targetName, type CheckedTarget, type TargetChange } from './vhost/health-checks.js';
export type { LoggedRequest, LogRequest } from './vhost/request-log.js';
export type { ReplayRefusal, ReplayRequest } from './vhost/replay.js';
export type { TracedVisit, TraceVisit, VisitTrace } from './vhost/visit-traces.js';
export type {
  MessageBytes,
  RecordedBody,
  RecordedDetail,
  RecordedMessage,
  RecordedRequest,
  RecordFilter,
  RecordLevel,
  RecordList,
} from './recording/recorded-request.js';
export type { RequestRecorder } from './recording/request-recorder.js';
export { readAuthority, type Authority } from './vhost/authority.js';
export type { ServerCertificate } from './vhost/certificate-table.js';
export { formatVisitorKey, parseVisitorKey, type VisitorKey } from './wire/visitor-key.js';
export { TunnelVisitor } from './visitor/tunnel-visitor.js';
export * as wireParts from './wire-parts.js';
export type { Endpoint } from './base/endpoint.js';
export { passesTls } from './vhost/tls-passthrough.js';
