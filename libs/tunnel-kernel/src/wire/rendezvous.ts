/** Messages for direct paths between a visitor's program and an agent; docs/tunnel-protocol.md describes them. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ByteReader } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import { Fields } from './fields.js';
import type { Endpoint } from '../base/endpoint.js';

/** ALPN names: for an agent that reports its address to the server, and for the direct connection. */
export const MAPPING_PROTOCOL = 'gwr/1';
export const DIRECT_PROTOCOL = 'gwp/1';

export const RENDEZVOUS_ID_BYTES = 16;
export const TOKEN_BYTES = 32;
export const DIRECT_PROOF_BYTES = 32;
const LENGTH_BYTES = 2;
/** Longest of the messages here. */
export const MAX_RENDEZVOUS_BYTES = 1024;
const EXPORT_LABEL = 'EXPERIMENTAL-gatehouse-direct';
const EXPORT_BYTES = 32;
const NO_CONTEXT = Buffer.alloc(0);

/** The only message of an agent's mapping connection. */
export interface MappingMessage {
  /** Id of the rendezvous, hex. */
  id: string;
  /** Source address of the connection on the agent's machine, for visitors of the same network. */
  local: Endpoint;
  /** Fingerprint of the agent's key for this path. */
  fingerprint: string;
  /** `mappingProof`. */
  proof: string;
}

/** Sends a visitor's program the addresses of its agent; the end of the connection ends the path. */
export interface PathMessage {
  /** The agent as the server sees it. */
  agent: Endpoint;
  local: Endpoint;
  fingerprint: string;
  /** Shared with the agent; base64url. */
  token: string;
}

export function mappingProof(token: Buffer, { id, local, fingerprint }: Omit<MappingMessage, 'proof'>): string {
  const said = ['mapping', id, local.address, local.port, fingerprint].join('\n');
  return createHmac('sha256', token).update(said).digest('base64url');
}

/**
 * Proves that a side of a direct connection knows the token and that nobody intercepts it: the proof is bound to this
 * TLS.
 */
export function directProof(
  token: Buffer,
  side: 'visitor' | 'agent',
  stream: { exportKeyingMaterial(length: number, label: string, context: Buffer): Buffer },
): Buffer {
  const exported = stream.exportKeyingMaterial(EXPORT_BYTES, EXPORT_LABEL, NO_CONTEXT);
  return createHmac('sha256', token).update(side).update(exported).digest();
}

export function sameProof(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

export function encodeRendezvous(message: MappingMessage | PathMessage): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(body.length);
  return Buffer.concat([length, body]);
}

/** @throws TunnelError `protocol`, ByteReaderError. */
export async function readMapping(reader: ByteReader): Promise<MappingMessage> {
  const fields = await readFields(reader);
  return {
    id: fields.text('id', 2 * RENDEZVOUS_ID_BYTES),
    local: required(fields, 'local'),
    fingerprint: fields.text('fingerprint', 64),
    proof: fields.text('proof', 64),
  };
}

/** @throws TunnelError `protocol`, ByteReaderError. */
export async function readPath(reader: ByteReader): Promise<PathMessage> {
  const fields = await readFields(reader);
  return {
    agent: required(fields, 'agent'),
    local: required(fields, 'local'),
    fingerprint: fields.text('fingerprint', 64),
    token: fields.text('token', 64),
  };
}

/** @throws TunnelError `protocol`. */
export function readEndpoint(value: unknown, path: string): Endpoint {
  const fields = new Fields(value, path);
  return { address: fields.text('address', 45), port: fields.integer('port', 1, 65_535) };
}

async function readFields(reader: ByteReader): Promise<Fields> {
  const length = (await reader.read(LENGTH_BYTES)).readUInt16BE();
  if (length > MAX_RENDEZVOUS_BYTES) throw protocolError(`a rendezvous of ${length} bytes`);
  return Fields.parse(await reader.read(length), 'rendezvous');
}

function required(fields: Fields, name: string): Endpoint {
  const found = fields.optional(name, readEndpoint);
  if (!found) throw protocolError(`rendezvous.${name} is missing`);
  return found;
}
