import type { CheckedTarget, RecordList, ResourceRef, TargetCheck, TunnelState } from '@gatehouse/tunnel-kernel';
import type { HandedSocket } from '@gatehouse/net';
import type {
  ConnectionList,
  DrainParams,
  EdgeAgent,
  EdgeCalls,
  EdgePorts,
  EdgeStatus,
  PeerAnswers,
  PeerQuestion,
  RequestsQuestion,
} from '../common/edge-ipc.js';

/** The roles of an edge's process: the data plane itself, or the door of several workers. */
export interface EdgeRole {
  /** Everything that can be done before ports are bound. */
  prepare(): Promise<void>;
  /** Takes over a socket that another process listens on. */
  inherit(socket: HandedSocket): void;
  /**
   * Binds the ports for visitors; agents of these clients are moving here from the previous edge. `ports`: those that a
   * door has bound already. @throws EdgePortError for a port of the gateway itself.
   */
  openForVisitors(ports: EdgePorts | null, moving: readonly number[]): Promise<void>;
  /** Binds the remaining ports. @throws EdgePortError for a port of the gateway itself. */
  open(ports: EdgePorts | null): Promise<EdgePorts>;
  status(): EdgeStatus | Promise<EdgeStatus>;
  agents(clientIds: readonly number[] | null): EdgeAgent[] | Promise<EdgeAgent[]>;
  tunnels(ids: readonly number[]): TunnelState[] | Promise<TunnelState[]>;
  /** The targets of these hosts, where this edge checks them. */
  checkedTargets(hostIds: readonly number[]): CheckedTarget[] | Promise<CheckedTarget[]>;
  connections(clientId: number, limit: number): ConnectionList | Promise<ConnectionList>;
  /** The last requests of a host that is recorded. */
  requests(question: RequestsQuestion): RecordList | Promise<RecordList>;
  replay(question: EdgeCalls['replay']['params']): Promise<EdgeCalls['replay']['result']>;
  checkTarget(clientId: number, resource: ResourceRef, port?: number): Promise<TargetCheck>;
  /** Asks the other edges. */
  peers(question: PeerQuestion): Promise<PeerAnswers>;
  kick(clientId: number): boolean | Promise<boolean>;
  /** Passes on all listening sockets; returns the clients whose agents are connected. */
  handOver(give: (socket: HandedSocket) => void): Promise<number[]>;
  /** Releases the ports for visitors. */
  yieldPorts(): Promise<void>;
  /** Releases the ports; resolves when the last connection has ended or the time is over. */
  drain(params: DrainParams): Promise<void>;
  /** As `drain`; the process then waits for its successor, and says so. */
  retire(params: DrainParams): Promise<void>;
  /** Resolves when the ports are released, after `drain` was called. */
  released(): Promise<void>;
  /** Lets connections end for `graceMs`, then closes everything. */
  shutdown(graceMs: number): Promise<void>;
  /** Closes everything and writes the last counters. `stays`: another edge continues. */
  close(options: { stays: boolean }): Promise<void>;
}
