/** What the service and its edge process say to each other. Both import this file: types only. */
import type {
  AgentPortState,
  AgentState,
  DatagramState,
  FormerIdentity,
  HttpsPortState,
  ResourceKind,
  ServerIdentity,
  TunnelState,
} from '@gatehouse/tunnel-kernel';

/** Which worker of an edge a process is. */
export interface WorkerPlace {
  /** Starts at 0. */
  index: number;
  /** How many workers the edge has. */
  count: number;
}

export interface ListenAddress {
  host: string;
  /** 0: any free one. */
  port: number;
}

/** Everything an edge process works with; it reads no environment. */
export interface EdgeOptions {
  databaseUrl: string;
  /** For the snapshot and what was counted without a database. */
  folder: string;
  identity: ServerIdentity;
  /** Of the key that is to take the identity's place. Absent: there is none. */
  nextFingerprint?: string;
  /** The key before it, for agents that know no other. Absent: there is none. */
  formerIdentity?: FormerIdentity;
  /** Signs what visitors prove, the same in all edges: of `joinKeys`, the newest signs. */
  visitorSecret: string;
  agents: ListenAddress;
  http: ListenAddress;
  https: ListenAddress;
  /** The port that visitors know for https; null: the one that is listened on. */
  publicHttpsPort: number | null;
  /** Files of certificates are in here. */
  certificateFolder: string;
  /** Open the keys of certificates that are in the database: of `joinKeys`. */
  certificateKey: string;
  trustedProxies: readonly string[];
  /** Database of countries (mmdb); null: the one that came along. */
  geoFile: string | null;
  /** Rules that deny a country deny everybody while there is no database. */
  geoStrict: boolean;
  debug: boolean;
  /** Processes that serve. More than one: this one is their door. */
  workers: number;
  /** Which worker this process is. Null: it is none, and has its ports itself. */
  worker: WorkerPlace | null;
  /** Another edge has the ports: bind them when it gives them up. */
  takesOver: boolean;
}

/** Ports that are bound. */
export interface EdgePorts {
  agents: number;
  http: number;
  https: number;
}

export interface EdgeStatus {
  pid: number;
  /** Of the configuration that is in force. */
  revision: number;
  /** Where it came from. */
  source: 'database' | 'snapshot';
  databaseAnswers: boolean;
  /** What the database, which answers, does not take; in words. */
  problems?: string[];
  /** Rows that the database refused since the process began: counters, grants, events. */
  refusedRows?: number;
  /** Flows that an unexpected failure ended since the process began; of the door and its workers together. */
  flowFailures?: number;
  agents: number;
  connections: number;
  ports: EdgePorts;
  /** Absent: an edge of a version before this was known. */
  agentPort?: AgentPortState;
  /** Absent: as for `agentPort`. */
  httpsPort?: HttpsPortState;
  /** Sessions of visitors' datagrams. Absent: as for `agentPort`. */
  datagrams?: Pick<DatagramState, 'sessions' | 'evicted'>;
  /** Processes of the workers, where there are several; null for one that does not serve or answer at the moment. */
  workers?: (number | null)[];
}

export interface VisitorConnection {
  kind: ResourceKind;
  id: number;
  address: string;
  port: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  upload: number;
  download: number;
}

export interface ConnectionList {
  items: VisitorConnection[];
  total: number;
}

export interface EdgeAgent extends AgentState {
  /** Whether it came in with the client's key before the present one. */
  previousKey: boolean;
}

/** All in milliseconds. */
export interface DrainParams {
  spreadMs: number;
  deadlineMs: number;
  settleMs: number;
}

/** One row per thing an edge can be asked. */
export interface EdgeCalls {
  ping: { params: null; result: null };
  status: { params: null; result: EdgeStatus };
  /** Of these clients, or of all. */
  agents: { params: { clientIds: number[] | null }; result: EdgeAgent[] };
  tunnels: { params: { ids: number[] }; result: TunnelState[] };
  connections: { params: { clientId: number; limit: number }; result: ConnectionList };
  /** True if an agent was connected. */
  kick: { params: { clientId: number }; result: boolean };
  /** Sends all sockets that it listens on (`socket`), and goes on listening. Answers the clients whose agents are connected. */
  handOver: { params: null; result: number[] };
  /** Gives up the ports for visitors. */
  yield: { params: null; result: null };
  /**
   * Gives up the ports and tells agents to move; answered when the ports are free. It ends by itself when the last
   * connection has ended. `settleMs`: see `TunnelServer.drain`.
   */
  drain: { params: DrainParams; result: null };
  /** Lets connections end for `graceMs`, writes what was counted, and exits. */
  shutdown: { params: { graceMs: number }; result: null };
}
export type EdgeMethod = keyof EdgeCalls;

export type EdgeRequest = {
  [M in EdgeMethod]: { type: 'request'; id: number; method: M; params: EdgeCalls[M]['params'] };
}[EdgeMethod];
/**
 * `bind`: the ports are free now; `ports`: those that a worker's door has. `moving`: those for visitors are; `bound` is the
 * answer, the port for agents follows with `admit`, and these clients' agents come from the edge before. `socket`: comes with
 * a socket that another process listens on. `connection`: comes with the socket that the door accepted, and what it read
 * of it, base64.
 */
export type ParentMessage =
  | { type: 'start'; options: EdgeOptions }
  | { type: 'bind'; ports: EdgePorts | null; moving: number[] | null }
  | { type: 'admit' }
  | { type: 'socket'; key: string }
  | { type: 'connection'; port: PortName; head: string }
  | EdgeRequest;

export interface EdgeLogEntry {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  fields?: Record<string, unknown>;
}

export type PortName = 'agents' | 'http' | 'https';

export type EdgeMessage =
  /** The configuration is there; only of one that takes over, which waits for `bind`. */
  | { type: 'prepared' }
  /** The ports for visitors are bound; only of one that was told `moving`. */
  | { type: 'bound' }
  | { type: 'ready'; ports: EdgePorts }
  /** Comes with a socket that it listens on. */
  | { type: 'socket'; key: string }
  /** A port of its own cannot be bound; it exits. */
  | { type: 'failed'; port: PortName; code: string; message: string }
  | { type: 'response'; id: number; ok: true; result: unknown }
  | { type: 'response'; id: number; ok: false; message: string }
  | { type: 'logs'; entries: EdgeLogEntry[] };
