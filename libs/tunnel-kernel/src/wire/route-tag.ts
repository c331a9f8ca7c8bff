import { createHash } from 'node:crypto';

/**
 * A gateway of several processes keeps each client in one of them. What comes in TLS says openly which client it is about:
 * enough of a hash to find the process, too little to know the client by.
 */
const TAG_CHARACTERS = 4;
/** Of a name that stands beside the protocol's own in ALPN, which servers that do not know it pass over. */
const PREFIX = 'gwk/';
const TAG = /^(?:[0-9a-f]{4}|t\d{1,16})$/;
const QUERY = 'gwk';

/** Of an agent. `keyHash`: `agentKeyHash` of its client's secret. */
export function agentRouteTag(keyHash: string): string {
  return createHash('sha256').update(`route ${keyHash}`).digest('hex').slice(0, TAG_CHARACTERS);
}

/** Of a visitor's program of a `secret` or `p2p` tunnel. */
export function visitorRouteTag(tunnelId: number): string {
  return `t${tunnelId}`;
}

/** What a ClientHello names beside `protocol`. */
export function taggedProtocols(protocol: string, tag: string | undefined): string[] {
  return tag === undefined ? [protocol] : [protocol, `${PREFIX}${tag}`];
}

/** The tag of a whole ClientHello; null where it says none. */
export function readRouteTag(hello: Buffer): string | null {
  const at = hello.indexOf(PREFIX, 1, 'latin1');
  if (at < 1) return null;
  const end = at + (hello[at - 1] ?? 0);
  const tag = hello.toString('latin1', at + PREFIX.length, end);
  return TAG.test(tag) ? tag : null;
}

/** The path of a WebSocket with the tag. */
export function taggedPath(path: string, tag: string | undefined): string {
  return tag === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${QUERY}=${tag}`;
}

/** The tag of a request's target; null where it says none. */
export function routeTagOf(target: string): string | null {
  const tag = /[?&]gwk=([^&#]{1,20})/.exec(target)?.[1] ?? '';
  return TAG.test(tag) ? tag : null;
}

/** The process whose ticket opens a data channel that begins with these bytes; null: too few, or something else. */
export function openingWorker(bytes: Buffer): number | null {
  return bytes[0] === 0x47 && bytes[1] === 0x57 && bytes[2] === 0x44 ? (bytes[4] ?? null) : null;
}
