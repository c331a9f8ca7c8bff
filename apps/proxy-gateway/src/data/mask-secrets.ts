import type { ProxyNode } from '@gatehouse/contracts';
import { MASK } from '@gatehouse/platform';

export { MASK, maskUrl } from '@gatehouse/platform';

/** Option names, of any node type, whose values are credentials. */
const SECRET =
  /pass|secret|token|psk|uuid|auth|private|pre-?shared|username|seed|obfs-?param|protocol-?param|^key$|^certificate$/i;
/** Names that match the pattern but hold no secret. */
const OPEN = new Set(['publicKey', 'public-key', 'authenticated', 'auth-timeout']);

/** Paths and service names of transports and plugins, which servers use like passwords. A path of `/` is no secret. */
const HIDING_PLACE = /^path$|service-?name$/i;

/** Whether an option's name says that its value is, or may be, a credential. */
export function isSecretOption(name: string): boolean {
  return (SECRET.test(name) && !OPEN.has(name)) || HIDING_PLACE.test(name);
}

/** A copy of the node with every secret masked, for callers that may only read. */
export function maskSecrets(node: ProxyNode): ProxyNode {
  const masked = mask(node) as ProxyNode;
  // In other types `obfs` is the name of a method.
  if (masked.type !== 'hysteria' || masked.options['obfs'] === undefined) return masked;
  return { ...masked, options: { ...masked.options, obfs: MASK } };
}

function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    const secret = isSecretOption(key) && inner !== undefined && inner !== '' && inner !== '/';
    return [key, secret ? MASK : key === 'headers' ? maskAll(inner) : mask(inner)];
  });
  return Object.fromEntries(entries);
}

/** Header names are shown, but their values may be tokens; `Host` is an address. A plugin's headers are one text. */
function maskAll(headers: unknown): unknown {
  if (typeof headers === 'string' && headers !== '') return MASK;
  if (typeof headers !== 'object' || headers === null) return headers;
  const entries = Object.entries(headers).map(([name, value]) => [name, /^host$/i.test(name) ? value : MASK]);
  return Object.fromEntries(entries);
}
