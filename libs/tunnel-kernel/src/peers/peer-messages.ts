/** What servers of one gateway send each other over their links (docs/tunnel-protocol.md, "Between servers"). */
import { TunnelError } from '../errors.js';
import type { ClientUse } from '../limits/shared-limits.js';
import type { RemoteAgent } from '../session/remote-agents.js';
import { Fields } from '../wire/fields.js';
import { DIAL_FAILURES, type ChannelTicket, type RefusedMessage } from '../wire/messages.js';

export const PEER_VERSION = 2;
/** Servers since this version end the list of their agents with `known`. */
export const KNOWN_VERSION = 2;
const MAX_AGENTS = 10_000;
const MAX_TICKETS = 256;
const MAX_ID = Number.MAX_SAFE_INTEGER;
const TICKET_BYTES = 48;
const TICKET_ID_BYTES = 16;

/** The first message of both sides. */
export interface PeerHello {
  version: number;
  /** Of the process. */
  id: string;
  worker: number | null;
}

export type PeerAgentKey = Pick<RemoteAgent, 'clientId' | 'key'>;

export interface AgentLeft extends PeerAgentKey {
  /** It is connected, but silent. */
  silent: boolean;
}

/** Changes of the agents that are connected to the sender; all of them after the hello. */
export interface PeerAgents {
  came: RemoteAgent[];
  left: AgentLeft[];
}

/** Tickets of the sender for an agent of the receiver. */
export interface PeerTickets {
  clientId: number;
  key: number;
  tickets: ChannelTicket[];
}

/** An agent of the sender could not do what the receiver's channel asked for. */
export interface PeerRefusal {
  clientId: number;
  refusal: Omit<RefusedMessage, 'type'>;
}

/** What changed in the sender's use of clients' limits; all of it after the hello. @throws TunnelError `protocol`. */
export function readUses(value: unknown): ClientUse[] {
  return new Fields(value, 'uses').list('uses', MAX_AGENTS, (item, path) => {
    const fields = new Fields(item, path);
    return {
      clientId: fields.integer('clientId', 0, MAX_ID),
      connections: fields.integer('connections', 0, MAX_ID),
      rate: fields.integer('rate', 0, MAX_ID),
      delayed: fields.flag('delayed'),
    };
  });
}

/** @throws TunnelError `protocol`. */
export function readHello(value: unknown): PeerHello {
  const fields = new Fields(value, 'hello');
  return {
    version: fields.integer('version', 1, MAX_ID),
    id: fields.text('id', 64),
    worker: fields.optionalInteger('worker', 0, 255),
  };
}

/** @throws TunnelError `protocol`. */
export function readAgents(value: unknown): PeerAgents {
  const fields = new Fields(value, 'agents');
  return {
    came: fields.list('came', MAX_AGENTS, readAgent),
    left: fields.list('left', MAX_AGENTS, (item, path) => {
      const entry = new Fields(item, path);
      return {
        ...agentKeyOf(entry),
        silent: entry.optionalFlag('silent') ?? false,
      };
    }),
  };
}

/** @throws TunnelError `protocol`. */
export function readAgentKey(value: unknown): PeerAgentKey {
  return agentKeyOf(new Fields(value, 'visited'));
}

function agentKeyOf(fields: Fields): PeerAgentKey {
  return { clientId: fields.integer('clientId', 0, MAX_ID), key: fields.integer('key', 0, MAX_ID) };
}

/** In parts that a receiver accepts. */
export function agentsInParts({ came, left }: PeerAgents): PeerAgents[] {
  const parts: PeerAgents[] = [];
  for (let at = 0; at < Math.max(came.length, left.length); at += MAX_AGENTS) {
    parts.push({ came: came.slice(at, at + MAX_AGENTS), left: left.slice(at, at + MAX_AGENTS) });
  }
  return parts;
}

/** In parts that a receiver accepts. */
export function usesInParts(uses: readonly ClientUse[]): ClientUse[][] {
  return Array.from({ length: Math.ceil(uses.length / MAX_AGENTS) }, (_, index) =>
    uses.slice(index * MAX_AGENTS, (index + 1) * MAX_AGENTS),
  );
}

export function writeTickets({ clientId, key, tickets }: PeerTickets): unknown {
  const bytes = Buffer.concat(tickets.flatMap(({ id, key: secret }) => [id, secret]));
  return { clientId, key, tickets: bytes.toString('base64') };
}

/** @throws TunnelError `protocol`. */
export function readTickets(value: unknown): PeerTickets {
  const fields = new Fields(value, 'tickets');
  const bytes = Buffer.from(fields.text('tickets', MAX_TICKETS * TICKET_BYTES * 2), 'base64');
  if (bytes.length % TICKET_BYTES !== 0) throw new TunnelError('protocol', `tickets of ${bytes.length} bytes`);
  const tickets = Array.from({ length: bytes.length / TICKET_BYTES }, (_, index) => {
    const ticket = bytes.subarray(index * TICKET_BYTES, (index + 1) * TICKET_BYTES);
    return { id: ticket.subarray(0, TICKET_ID_BYTES), key: ticket.subarray(TICKET_ID_BYTES) };
  });
  return { clientId: fields.integer('clientId', 0, MAX_ID), key: fields.integer('key', 0, MAX_ID), tickets };
}

/** @throws TunnelError `protocol`. */
export function readRefusal(value: unknown): PeerRefusal {
  const fields = new Fields(value, 'refused');
  return {
    clientId: fields.integer('clientId', 0, MAX_ID),
    refusal: {
      kind: fields.oneOf('kind', ['tunnel', 'host'] as const),
      id: fields.integer('id', 0, MAX_ID),
      channel: fields.text('channel', 32),
      reason: fields.oneOf('reason', DIAL_FAILURES),
    },
  };
}

function readAgent(value: unknown, path: string): RemoteAgent {
  const fields = new Fields(value, path);
  return {
    key: fields.integer('key', 0, MAX_ID),
    clientId: fields.integer('clientId', 0, MAX_ID),
    agentId: fields.text('agentId', 64),
    slot: fields.integer('slot', 0, 15),
    epoch: fields.integer('epoch', 0, MAX_ID),
    replica: fields.flag('replica'),
    sealed: fields.flag('sealed'),
    longRecords: fields.optionalFlag('longRecords') ?? false,
    since: fields.integer('since', 0, MAX_ID),
  };
}
