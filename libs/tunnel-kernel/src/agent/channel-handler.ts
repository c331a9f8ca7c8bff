import type { ByteReader, ByteStream } from '@gatehouse/net';
import type { AgentDialer, HostAndPort, TunnelLogger } from '../environment.js';
import type { FlowLedger } from '../flow-ledger.js';
import type { ResourceRef } from '../resource.js';
import type { ServerRoute } from '../session/server-route.js';
import type { CarriedMessage, DialFailure, PathStateMessage } from '../wire/messages.js';
import type { Start } from '../wire/prelude.js';
import type { AgentResources } from './agent-resources.js';

/** The session of a channel. */
export interface ChannelOwner {
  clientId: number;
  encrypt: boolean;
  /** The route of its channels to the server. */
  route: Pick<ServerRoute, 'open'>;
  refuse(resource: ResourceRef, channel: string, reason: DialFailure): void;
  /** Sends a report about a direct path. */
  send(message: PathStateMessage | CarriedMessage): void;
}

/** A channel that has become the connection of one visitor. */
export interface StartedChannel {
  start: Start;
  /** Paused; both directions end independently. */
  stream: ByteStream;
  /** Holds the bytes after the start: `detach` returns them. Null: the stream does. */
  reader: ByteReader | null;
  owner: ChannelOwner;
  /** Id of its ticket, hex. */
  id: string;
}

/** Shared by the agent's side of all modes. */
export interface HandlerContext {
  dialer: AgentDialer;
  ledger: Pick<FlowLedger, 'open' | 'close'>;
  logger: TunnelLogger;
  now: () => number;
  /** Time limit for all targets of a tunnel together, in milliseconds. */
  dialMs: number;
  /** The agent's own rules about targets, called with one of the addresses that the target's name resolves to. */
  allows: (target: HostAndPort, address: string) => boolean;
  /** Directories that tunnels of mode `file` may serve, including everything below them. */
  fileRoots: readonly string[];
  resources: AgentResources;
}

/** The agent's side of a mode. If `serve` rejects, the channel is reset. */
export interface ChannelHandler {
  serve(channel: StartedChannel): Promise<void>;
}
