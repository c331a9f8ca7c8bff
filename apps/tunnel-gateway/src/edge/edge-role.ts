import type { TunnelState } from '@gatehouse/tunnel-kernel';
import type { HandedSocket } from '@gatehouse/net';
import type { ConnectionList, DrainParams, EdgeAgent, EdgePorts, EdgeStatus } from '../common/edge-ipc.js';

/** What an edge's process can be: the data plane itself, or the door of several that are. */
export interface EdgeRole {
  /** Everything that can be done before ports are bound. */
  prepare(): Promise<void>;
  /** A socket that another process listens on, to be listened on here in its place. */
  inherit(socket: HandedSocket): void;
  /**
   * Binds the ports for visitors; agents of these clients come from the edge before. `ports`: those that a door has bound
   * already. @throws EdgePortError for a port of the gateway itself.
   */
  openForVisitors(ports: EdgePorts | null, moving: readonly number[]): Promise<void>;
  /** Binds what is left. @throws EdgePortError for a port of the gateway itself. */
  open(ports: EdgePorts | null): Promise<EdgePorts>;
  status(): EdgeStatus | Promise<EdgeStatus>;
  agents(clientIds: readonly number[] | null): EdgeAgent[] | Promise<EdgeAgent[]>;
  tunnels(ids: readonly number[]): TunnelState[] | Promise<TunnelState[]>;
  connections(clientId: number, limit: number): ConnectionList | Promise<ConnectionList>;
  kick(clientId: number): boolean | Promise<boolean>;
  /** Hands on all sockets that it listens on; answers the clients whose agents are connected. */
  handOver(give: (socket: HandedSocket) => void): Promise<number[]>;
  /** Gives up the ports for visitors. */
  yieldPorts(): Promise<void>;
  /** Gives up the ports; resolves when the last connection has ended or the time is over. */
  drain(params: DrainParams): Promise<void>;
  /** Resolves when the ports are given up, after `drain` was called. */
  released(): Promise<void>;
  /** Lets connections end for `graceMs`, then ends everything. */
  shutdown(graceMs: number): Promise<void>;
  /** Ends everything and writes the last of what was counted. `stays`: another edge serves on. */
  close(options: { stays: boolean }): Promise<void>;
}
