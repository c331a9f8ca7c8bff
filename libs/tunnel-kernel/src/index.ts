export { TargetError, TunnelError, type TunnelErrorCode } from './errors.js';
export {
  agentKeyHash,
  certificateFingerprint,
  createAgentSecret,
  formatAgentKey,
  parseAgentKey,
  type AgentKey,
} from './wire/key-string.js';
export { der } from './wire/der.js';
export { agentRouteTag, MAX_WORKERS, openingWorker, readRouteTag, routeTagOf } from './wire/route-tag.js';
export { createServerIdentity, type FormerIdentity, type ServerIdentity } from './wire/server-identity.js';
export { proxyHeader } from './wire/proxy-header.js';
export { type DialFailure, type TargetAddress } from './wire/messages.js';
export {
  type AgentDialer,
  type ClientRecord,
  type ClientStore,
  type HostAndPort,
  type TunnelLogger,
} from './environment.js';
export {
  EMPTY_CONFIG,
  TUNNEL_MODES,
  type ClientConfig,
  type HostConfig,
  type HostTarget,
  type IpPatternKind,
  type IpRuleConfig,
  type IpRuleScope,
  type OAuthEndpoints,
  type TunnelConfig,
  type TunnelMode,
  type TunnelServerConfig,
  type VisitorOAuthClient,
  type VisitorPolicyConfig,
  type VisitorPolicyType,
} from './config.js';
export { resourceKey, type ResourceKind, type ResourceRef } from './resource.js';
export { type AdmissionRefusal, type GateRefusal } from './access/gate.js';
export { IpPatternError, parseIpPattern, type IpMatcher, type IpPattern } from './access/ip-pattern.js';
export {
  IpRules,
  type AccessPoint,
  type CountryLookup,
  type IpDenial,
  type IpExplanation,
  type IpRuleOptions,
  type LevelExplanation,
  type LevelOutcome,
} from './access/ip-rules.js';
export { TrustedProxies } from './access/trusted-proxies.js';
export { type AgentPortState } from './session/unknown-connections.js';
export { type DeniedVisitors } from './access/refusal-sampler.js';
export {
  type GatewayAnswer,
  type SocketVisitor,
  type Verdict,
  type VisitorRequest,
  type VisitorVerifier,
} from './access/visitor-verifier.js';
export { PolicyVerifier, type GrantOutcome, type GrantRequest } from './verification/policy-verifier.js';
export {
  MemoryGrantStore,
  type GrantChange,
  type GrantKey,
  type GrantStore,
  type VisitorGrant,
} from './verification/grants.js';
export {
  type FailedVisitors,
  type OAuthIssuer,
  type VerificationOptions,
} from './verification/verification-options.js';
export { discoverOAuthServer } from './verification/oauth-discovery.js';
export {
  TunnelVisits,
  visitedTunnel,
  type TunnelVisitsContext,
  type VisitStanding,
} from './verification/tunnel-visits.js';
export { type Tries } from './verification/try-limit.js';
export { readVisitorRequest } from './verification/visitor-request.js';
export { TunnelServer } from './server.js';
export {
  type AgentReplaced,
  type AgentState,
  type ConnectionState,
  type ServerEvents,
  type ServerTimeouts,
  type TunnelServerEnvironment,
} from './server-environment.js';
export { type RunState, type TunnelState } from './modes/entrance-table.js';
export {
  TunnelAgent,
  type AgentEvents,
  type AgentStatus,
  type AgentTimeouts,
  type TunnelAgentEnvironment,
} from './agent.js';
export { type VisitorHits } from './visitor-ledger.js';
export { type FlowDelta, type FlowRecord } from './flow-ledger.js';
export { type PoolLimits } from './session/channel-pool.js';
export { type AgentTransport } from './session/route-chooser.js';
export { formatWebSocketAddress, parseWebSocketAddress, type WebSocketAddress } from './websocket/handshake.js';
export { type AgentHost, type AgentTunnel, type FileRoot } from './wire/messages.js';
export { OutboundCalls, type OutboundOptions } from './verification/outbound-call.js';
export { systemDialer } from './dial.js';
export { type DatagramLimits } from './datagrams/agent-datagrams.js';
export { type DatagramState } from './datagrams/server-datagrams.js';
export { type ServerDatagramLimits } from './server-environment.js';
export { DestinationRules } from './agent/destination-rules.js';
export { type HttpOptions, type HttpsPortState } from './vhost/http-gateway.js';
export { readAuthority, type Authority } from './vhost/authority.js';
export { type ServerCertificate } from './vhost/certificate-book.js';
export { formatVisitorKey, parseVisitorKey, type VisitorKey } from './wire/visitor-key.js';
export { TunnelVisitor, type TunnelVisitorEnvironment, type VisitorRoute } from './visitor/tunnel-visitor.js';
export * as wireParts from './wire-parts.js';
export type { Endpoint } from './base/endpoint.js';
