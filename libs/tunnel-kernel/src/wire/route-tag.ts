import { createHash } from 'node:crypto';
import { PASSED_THIRD_BYTE } from './passed-opening.js';

/**
 * A gateway of several processes serves each client in one of them. A TLS connection names its client openly: with
 * enough of a hash to find the process, and too little to identify the client.
 */
const TAG_CHARACTERS = 4;
/** Prefix of a name beside the protocol's own in ALPN; servers that do not know it ignore it. */
const PREFIX = 'gwk/';
const TAG = /^(?:[0-9a-f]{4}|t\d{1,16})$/;
const QUERY = 'gwk';

/** The tag of an agent. `keyHash`: `agentKeyHash` of its client's secret. */
export function agentRouteTag(keyHash: string): string {
  return createHash('sha256').update(`route ${keyHash}`).digest('hex').slice(0, TAG_CHARACTERS);
}

/** The tag of a visitor's program for a `secret` or `p2p` tunnel. */
export function visitorRouteTag(tunnelId: number): string {
  return `t${tunnelId}`;
}

/** ALPN names of a ClientHello: `protocol` and the tag. */
export function taggedProtocols(protocol: string, tag: string | undefined): string[] {
  return tag === undefined ? [protocol] : [protocol, `${PREFIX}${tag}`];
}

/** The tag in a whole ClientHello; null if it has none. */
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

/** The tag in a request's target; null if it has none. */
export function routeTagOf(target: string): string | null {
  const tag = /[?&]gwk=([^&#]{1,20})/.exec(target)?.[1] ?? '';
  return TAG.test(tag) ? tag : null;
}

/**
 * The process that a data channel beginning with these bytes belongs to: the one that issued its ticket, or passes it on
 * to another server; null: too few bytes, or no data channel.
 */
export function openingWorker(bytes: Buffer): number | null {
  if (bytes[0] !== 0x47 || bytes[1] !== 0x57) return null;
  if (bytes[2] === PASSED_THIRD_BYTE) return bytes[3] ?? null;
  return bytes[2] === 0x44 ? (bytes[4] ?? null) : null;
}
