import type { AgentState, TunnelState } from '@gatehouse/tunnel-kernel';
import type { ConnectionList, EdgePorts, EdgeStatus } from './edge-ipc.js';

/** What an edge's process can be: the data plane itself, or the door of several that are. */
export interface EdgeRole {
  /** Everything that can be done before ports are bound. */
  prepare(): Promise<void>;
  /** `ports`: those that a door has bound already. @throws EdgePortError for a port of the gateway itself. */
  open(ports: EdgePorts | null): Promise<EdgePorts>;
  status(): EdgeStatus | Promise<EdgeStatus>;
  agents(clientIds: readonly number[] | null): AgentState[] | Promise<AgentState[]>;
  tunnels(ids: readonly number[]): TunnelState[] | Promise<TunnelState[]>;
  connections(clientId: number, limit: number): ConnectionList | Promise<ConnectionList>;
  kick(clientId: number): boolean | Promise<boolean>;
  /** Gives up the ports; resolves when the last connection has ended or the time is over. */
  drain(spreadMs: number, deadlineMs: number): Promise<void>;
  /** Resolves when the ports are given up, after `drain` was called. */
  released(): Promise<void>;
  /** Lets connections end for `graceMs`, then ends everything. */
  shutdown(graceMs: number): Promise<void>;
  /** Ends everything and writes the last of what was counted. `stays`: another edge serves on. */
  close(options: { stays: boolean }): Promise<void>;
}
