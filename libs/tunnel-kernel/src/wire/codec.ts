import { protocolError } from '../errors.js';
import { Fields } from './fields.js';
import { encodeFrame, type Frame } from './frame.js';
import {
  CLOSE_CODES,
  DIAL_FAILURES,
  PATH_STATES,
  type AgentHost,
  type AgentTunnel,
  type ChannelTicket,
  type EdgeAddress,
  type FileRoot,
  type MappedPorts,
  type Message,
  type TargetAddress,
} from './messages.js';
import { readEndpoint } from './rendezvous.js';

/** Peers may ignore unknown types from here on; unknown types below end the connection. */
const OPTIONAL_TYPES = 0x80;
const MAX_OPTIONAL_BYTES = 4096;
const TICKET_ID_BYTES = 16;
const TICKET_KEY_BYTES = 32;
const TICKET_BYTES = TICKET_ID_BYTES + TICKET_KEY_BYTES;
export const MAX_TICKETS = 256;
/** As many as fit into the longest configuration; the server checks earlier. */
const MAX_TUNNELS = 10_000;
const MAX_HOSTS = 10_000;
const MAX_TARGETS = 64;
const MAX_DESTINATIONS = 256;
/** Bytes of one report: sums of many stay safe integers. */
const MAX_CARRIED = 2 ** 46;
const MAX_CARRIED_CONNECTIONS = 65_536;
const MAX_SLOT = 15;
/** As many as fit into a message that agents may ignore. */
export const MAX_EDGES = 12;
const MAX_EDGE_ID = 36;

type Kind = Message['type'];
export type Side = 'agent' | 'server';

interface Format<M extends Message = Message> {
  code: number;
  /** The side that may send it. */
  from: Side | 'both';
  maxBytes: number;
  encode(message: M): Uint8Array;
  decode(body: Buffer): M;
}

function json<M extends Message>(
  code: number,
  from: Side,
  maxBytes: number,
  decode: (fields: Fields) => Omit<M, 'type'>,
  type: M['type'],
): Format<M> {
  return {
    code,
    from,
    maxBytes,
    encode: (message) => Buffer.from(JSON.stringify({ ...message, type: undefined })),
    decode: (body) => ({ type, ...decode(Fields.parse(body, type)) }) as M,
  };
}

function sequence(code: number, type: 'ping' | 'pong'): Format<Extract<Message, { sequence: number }>> {
  return {
    code,
    from: 'both',
    maxBytes: 4,
    encode: (message) => {
      const body = Buffer.allocUnsafe(4);
      body.writeUInt32BE(message.sequence);
      return body;
    },
    decode: (body) => {
      if (body.length !== 4) throw protocolError(`a ${type} of ${body.length} bytes`);
      return { type, sequence: body.readUInt32BE() };
    },
  };
}

const FORMATS: { [K in Kind]: Format<Extract<Message, { type: K }>> } = {
  auth: json(
    0x01,
    'agent',
    2048,
    (fields) => ({
      versions: fields.list('versions', 16, readVersion),
      secret: fields.text('secret', 128),
      agentId: fields.text('agentId', 64),
      epoch: fields.integer('epoch', 0, Number.MAX_SAFE_INTEGER),
      software: fields.text('software', 128),
      ...optionalSlot(fields),
      ...optionalReplica(fields),
      ...optionalLongRecords(fields),
    }),
    'auth',
  ),
  refused: json(
    0x02,
    'agent',
    512,
    (fields) => ({
      kind: fields.oneOf('kind', ['tunnel', 'host'] as const),
      id: fields.integer('id', 0, Number.MAX_SAFE_INTEGER),
      channel: fields.text('channel', 32),
      reason: fields.oneOf('reason', DIAL_FAILURES),
    }),
    'refused',
  ),
  leaving: {
    code: 0x03,
    from: 'agent',
    maxBytes: 0,
    encode: () => Buffer.alloc(0),
    decode: () => ({ type: 'leaving' }),
  },
  welcome: json(
    0x10,
    'server',
    512,
    (fields) => ({
      version: fields.integer('version', 1, 255),
      clientId: fields.integer('clientId', 0, Number.MAX_SAFE_INTEGER),
      heartbeatMs: fields.integer('heartbeatMs', 1, 3_600_000),
      encrypt: fields.flag('encrypt'),
      ...optionalPort(fields),
      ...optionalFingerprint(fields),
    }),
    'welcome',
  ),
  close: json(
    0x11,
    'server',
    1024,
    (fields) => ({
      code: fields.oneOf('code', CLOSE_CODES),
      message: fields.text('message', 256),
      retryAfterMs: fields.optionalInteger('retryAfterMs', 0, 86_400_000),
    }),
    'close',
  ),
  config: json(
    0x12,
    'server',
    4 * 1024 * 1024,
    (fields) => ({
      revision: fields.integer('revision', 0, Number.MAX_SAFE_INTEGER),
      tunnels: fields.list('tunnels', MAX_TUNNELS, readTunnel),
      hosts: fields.list('hosts', MAX_HOSTS, readHost),
    }),
    'config',
  ),
  channels: {
    code: 0x13,
    from: 'server',
    maxBytes: MAX_TICKETS * TICKET_BYTES,
    encode: ({ tickets }) => Buffer.concat(tickets.flatMap(({ id, key }) => [id, key])),
    decode: (body) => ({ type: 'channels', tickets: readTickets(body) }),
  },
  move: json(0x14, 'server', 128, (fields) => ({ spreadMs: fields.integer('spreadMs', 0, 3_600_000) }), 'move'),
  rendezvous: json(
    0x80,
    'server',
    512,
    (fields) => ({
      id: fields.text('id', 32),
      tunnelId: fields.integer('tunnelId', 0, Number.MAX_SAFE_INTEGER),
      visitor: fields.optional('visitor', readEndpoint) ?? { address: '', port: 0 },
      token: fields.text('token', 64),
    }),
    'rendezvous',
  ),
  rendezvousEnd: json(
    0x81,
    'server',
    128,
    (fields) => ({ id: fields.text('id', 32), graceMs: fields.integer('graceMs', 0, 3_600_000) }),
    'rendezvousEnd',
  ),
  edges: json(
    0x82,
    'server',
    MAX_OPTIONAL_BYTES,
    (fields) => ({ own: fields.text('own', MAX_EDGE_ID), edges: fields.list('edges', MAX_EDGES, readEdge) }),
    'edges',
  ),
  pathState: json(
    0x90,
    'agent',
    128,
    (fields) => ({ id: fields.text('id', 32), state: fields.oneOf('state', PATH_STATES) }),
    'pathState',
  ),
  carried: json(
    0x91,
    'agent',
    256,
    (fields) => ({
      id: fields.text('id', 32),
      upload: fields.integer('upload', 0, MAX_CARRIED),
      download: fields.integer('download', 0, MAX_CARRIED),
      connections: fields.integer('connections', 0, MAX_CARRIED_CONNECTIONS),
    }),
    'carried',
  ),
  ping: sequence(0x20, 'ping') as Format<Extract<Message, { type: 'ping' }>>,
  pong: sequence(0x21, 'pong') as Format<Extract<Message, { type: 'pong' }>>,
};

const BY_CODE = new Map<number, Format>(
  Object.values(FORMATS).map((format) => [format.code, format as unknown as Format]),
);

/** @throws RangeError for a message over the limit of its type, which the other end would refuse. */
export function encodeMessage(message: Message): Buffer {
  const format = FORMATS[message.type] as unknown as Format;
  const body = format.encode(message);
  if (body.length > format.maxBytes) throw new RangeError(`a ${message.type} message of ${body.length} bytes`);
  return encodeFrame(format.code, body);
}

/** Longest body of a type that `from` may send; -1: none. */
export function frameLimit(type: number, from: Side): number {
  const format = BY_CODE.get(type);
  if (!format) return type >= OPTIONAL_TYPES ? MAX_OPTIONAL_BYTES : -1;
  return format.from === from || format.from === 'both' ? format.maxBytes : -1;
}

/** Null for an unknown type that may be ignored. @throws TunnelError `protocol`. */
export function decodeMessage({ type, body }: Frame, from: Side): Message | null {
  const limit = frameLimit(type, from);
  if (body.length > limit) throw protocolError(`a frame of type ${type} with ${body.length} bytes from the ${from}`);
  return BY_CODE.get(type)?.decode(body) ?? null;
}

function optionalSlot(fields: Fields): { slot?: number } {
  const slot = fields.optionalInteger('slot', 0, MAX_SLOT);
  return slot === null ? {} : { slot };
}

function optionalReplica(fields: Fields): { replica?: boolean } {
  const replica = fields.optionalFlag('replica');
  return replica === null ? {} : { replica };
}

function optionalLongRecords(fields: Fields): { longRecords?: boolean } {
  const longRecords = fields.optionalFlag('longRecords');
  return longRecords === null ? {} : { longRecords };
}

function optionalPort(fields: Fields): { packetPort?: number } {
  const packetPort = fields.optionalInteger('packetPort', 1, 65_535);
  return packetPort === null ? {} : { packetPort };
}

function optionalFingerprint(fields: Fields): { nextFingerprint?: string } {
  const nextFingerprint = fields.optional('nextFingerprint', readFingerprint);
  return nextFingerprint === null ? {} : { nextFingerprint };
}

function readFingerprint(value: unknown, path: string): string {
  if (typeof value !== 'string' || !/^[\w-]{43}$/.test(value)) throw protocolError(`${path} is not a fingerprint`);
  return value;
}

function readVersion(value: unknown, path: string): number {
  if (!Number.isInteger(value)) throw protocolError(`${path} is not a version`);
  return value as number;
}

function readTunnel(value: unknown, path: string): AgentTunnel {
  const fields = new Fields(value, path);
  return {
    id: fields.integer('id', 0, Number.MAX_SAFE_INTEGER),
    mode: fields.text('mode', 32),
    entrance: fields.text('entrance', 300),
    targets: fields.list('targets', MAX_TARGETS, readTarget),
    proxyProtocol: fields.integer('proxyProtocol', 0, 2),
    destinations: fields.list('destinations', MAX_DESTINATIONS, readDestination),
    file: fields.optional('file', readFileRoot),
    ...optionalPorts(fields),
  };
}

function optionalPorts(fields: Fields): { ports?: MappedPorts } {
  const ports = fields.optional('ports', (value, path) => {
    const range = new Fields(value, path);
    return { first: range.integer('first', 1, 65_535), count: range.integer('count', 1, 65_535) };
  });
  return ports === null ? {} : { ports };
}

function readHost(value: unknown, path: string): AgentHost {
  const fields = new Fields(value, path);
  return {
    id: fields.integer('id', 0, Number.MAX_SAFE_INTEGER),
    name: fields.text('name', 2048),
    targets: fields.list('targets', MAX_TARGETS, readTarget),
  };
}

function readEdge(value: unknown, path: string): EdgeAddress {
  const fields = new Fields(value, path);
  return {
    id: fields.text('id', MAX_EDGE_ID),
    host: fields.text('host', 255),
    port: fields.integer('port', 1, 65_535),
  };
}

function readDestination(value: unknown, path: string): string {
  if (typeof value !== 'string' || value.length > 300) throw protocolError(`${path} is not a destination`);
  return value;
}

function readFileRoot(value: unknown, path: string): FileRoot {
  const fields = new Fields(value, path);
  return {
    path: fields.text('path', 4096),
    readOnly: fields.flag('readOnly'),
    stripPrefix: fields.text('stripPrefix', 1024),
  };
}

function readTarget(value: unknown, path: string): TargetAddress {
  const fields = new Fields(value, path);
  return {
    host: fields.text('host', 255),
    port: fields.integer('port', 1, 65_535),
    weight: fields.integer('weight', 1, 1000),
  };
}

function readTickets(body: Buffer): ChannelTicket[] {
  if (body.length % TICKET_BYTES !== 0) throw protocolError(`tickets of ${body.length} bytes`);
  const tickets: ChannelTicket[] = [];
  for (let at = 0; at < body.length; at += TICKET_BYTES) {
    const id = body.subarray(at, at + TICKET_ID_BYTES);
    tickets.push({ id, key: body.subarray(at + TICKET_ID_BYTES, at + TICKET_BYTES) });
  }
  return tickets;
}
