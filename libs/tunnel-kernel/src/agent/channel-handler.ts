import type { ByteReader, ByteStream } from '@gatehouse/net';
import type { AgentDialer, HostAndPort, TunnelLogger } from '../environment.js';
import type { FlowLedger } from '../flow-ledger.js';
import type { ResourceRef } from '../resource.js';
import type { ServerRoute } from '../session/server-route.js';
import type { CarriedMessage, DialFailure, PathStateMessage } from '../wire/messages.js';
import type { Start } from '../wire/prelude.js';
import type { AgentResources } from './agent-resources.js';

/** Under which session a channel was asked for. */
export interface ChannelOwner {
  clientId: number;
  encrypt: boolean;
  /** How its channels get to the server. */
  route: Pick<ServerRoute, 'open'>;
  refuse(resource: ResourceRef, channel: string, reason: DialFailure): void;
  /** What becomes of direct paths. */
  send(message: PathStateMessage | CarriedMessage): void;
}

/** A channel that has become the connection of one visitor. */
export interface StartedChannel {
  start: Start;
  /** Paused; both directions end on their own. */
  stream: ByteStream;
  /** Holds what came after the start: `detach` hands it over. */
  reader: ByteReader;
  owner: ChannelOwner;
  /** Id of its ticket, hex. */
  id: string;
}

/** What the agent's side of every mode works with. */
export interface HandlerContext {
  dialer: AgentDialer;
  ledger: Pick<FlowLedger, 'open' | 'close'>;
  logger: TunnelLogger;
  now: () => number;
  /** For all targets of a tunnel together, milliseconds. */
  dialMs: number;
  /** The agent's own say on what it exposes, for one of the addresses that the target's name leads to. */
  allows: (target: HostAndPort, address: string) => boolean;
  /** Directories that tunnels of mode `file` may serve, with what is below them. */
  fileRoots: readonly string[];
  resources: AgentResources;
}

/** The agent's side of a mode. A channel that it rejects with is reset. */
export interface ChannelHandler {
  serve(channel: StartedChannel): Promise<void>;
}
