import type { NodeTls, NodeTransport, OtherNode, ProxyNode, ProxyNodeType } from '@gatehouse/contracts';
import { KernelConfigError, type Outbound } from '../interfaces/index.js';
import { carriedHere } from '../transport/carrier.js';
import type { ServerDialer } from '../transport/server-dialer.js';
import { createHash } from 'node:crypto';

export interface NodeSupport {
  /** `embedded`: this kernel dials it. `external`: another kernel can. `unsupported`: no kernel that we run can. */
  support: 'embedded' | 'external' | 'unsupported';
  reason?: string;
}

export type NodeOfType<T extends ProxyNodeType> = T extends OtherNode['type']
  ? OtherNode
  : Extract<ProxyNode, { type: T }>;

export interface OutboundParts<N extends ProxyNode> {
  tag: string;
  node: N;
  /** Connects to the node's server, possibly through another node. */
  dialer: ServerDialer;
  /** The node's path in the configuration, for errors. */
  path: string;
}

/** How nodes of one type are dialled. Each protocol's folder exports one; `registry.ts` lists them. */
export interface NodeProtocol<N extends ProxyNode = ProxyNode> {
  /** Whether this kernel dials the node, otherwise the reason. */
  support(node: N): NodeSupport;
  /** Called for nodes that are embedded according to `support`. @throws KernelConfigError */
  create(parts: OutboundParts<N>): Outbound;
}

export const EMBEDDED: NodeSupport = { support: 'embedded' };

export function external(what: string): NodeSupport {
  return { support: 'external', reason: `${what} is not carried by the embedded kernel` };
}

export function unsupported(reason: string): NodeSupport {
  return { support: 'unsupported', reason };
}

/** A protocol that only other kernels support. */
export function externalProtocol(type: OtherNode['type']): NodeProtocol<OtherNode> {
  return {
    support: () => external(type),
    create: ({ tag, path }) => {
      throw new KernelConfigError(path, `${tag} cannot be dialled: ${type}`);
    },
  };
}

/** `clientFingerprint` is ignored: the handshake works, but looks like Node's. */
export function carrierSupport({ tls, transport }: { tls?: NodeTls; transport?: NodeTransport }): NodeSupport {
  if (tls?.reality) return external('REALITY');
  if (tls?.ech) return external('encrypted ClientHello');
  return carriedHere(transport) ? EMBEDDED : external(`transport ${transport?.type}`);
}

const BAD_USER_ID = 'the user id is neither a UUID nor a name of 1 to 30 bytes';

/** For a node whose user has an id. */
export function userIdSupport(node: { uuid: string; tls?: NodeTls; transport?: NodeTransport }): NodeSupport {
  return parseUserId(node.uuid) ? carrierSupport(node) : unsupported(BAD_USER_ID);
}

/** @throws KernelConfigError */
export function requireUserId(uuid: string, path: string): Buffer {
  const id = parseUserId(uuid);
  if (!id) throw new KernelConfigError(path, BAD_USER_ID);
  return id;
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const MAX_NAME_BYTES = 30;

/**
 * The 16 bytes of a user's id. As in Xray, a name of 1 to 30 bytes that is not a UUID becomes its UUIDv5 in the nil
 * namespace. Null: neither.
 */
export function parseUserId(text: string): Buffer | null {
  if (UUID.test(text)) return Buffer.from(text.replaceAll('-', ''), 'hex');
  const name = Buffer.from(text);
  if (name.length === 0 || name.length > MAX_NAME_BYTES) return null;
  const id = createHash('sha1').update(Buffer.alloc(16)).update(name).digest().subarray(0, 16);
  id[6] = ((id[6] ?? 0) & 0x0f) | 0x50;
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return id;
}
