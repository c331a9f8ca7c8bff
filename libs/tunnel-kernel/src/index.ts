export { TunnelError, type TunnelErrorCode } from './errors.js';
export {
  agentKeyHash,
  certificateFingerprint,
  createAgentSecret,
  formatAgentKey,
  parseAgentKey,
  type AgentKey,
} from './wire/key-string.js';
export { createServerIdentity, type ServerIdentity } from './wire/server-identity.js';
export { proxyHeader } from './wire/proxy-header.js';
export { type Endpoint } from './wire/prelude.js';
export { type DialFailure, type TargetAddress } from './wire/messages.js';
