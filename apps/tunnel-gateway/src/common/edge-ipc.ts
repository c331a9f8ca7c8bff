/** Messages between the service and its edge process. Both import this file: types only. */
import type { ProcessLoad } from '@gatehouse/net';
import type {
  AgentPortState,
  AgentState,
  CheckedTarget,
  DatagramState,
  FormerIdentity,
  HttpsPortState,
  RecordFilter,
  RecordList,
  ReplayRefusal,
  ReplayRequest,
  Refusals,
  ResourceKind,
  ResourceRef,
  ServerIdentity,
  TargetCheck,
  TunnelState,
} from '@gatehouse/tunnel-kernel';
import type { TracingOptions } from '@gatehouse/tracing';
import type { AccessLogFormat } from './access-log-formats.js';
import type { WantedState } from './edge-leases.js';

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

/** What an edge says about itself to those who share its database. */
export interface EdgePlace {
  /** Id of the edge: the same for all its processes, and after a restart. */
  edge: string;
  name: string;
  /** Of this program. */
  version: string;
  /** The host under which agents and visitors know this edge in particular; null: there is none. */
  publicHost: string | null;
  /** How other edges reach this one; null: they do not. */
  peers: EdgePeering | null;
}

export interface EdgePeering {
  /** Of the first worker; the next ones add their index, unless the port is 0 (any free one). */
  listen: ListenAddress;
  /** The host under which other edges reach this one. */
  host: string;
  /** Newest first: the same at all edges. */
  keys: { identity: string; psk: string }[];
}

/** All options of an edge process; it reads no environment. */
export interface EdgeOptions {
  databaseUrl: string;
  place: EdgePlace;
  /** Folder for the snapshot, and for counters that could not be written. */
  folder: string;
  identity: ServerIdentity;
  /** Fingerprint of the key that will replace the identity. Absent: there is none. */
  nextFingerprint?: string;
  /** The former key, for agents that know no other. Absent: there is none. */
  formerIdentity?: FormerIdentity;
  /** Signs visitors' proofs, the same in all edges: from `joinKeys`, the newest one signs. */
  visitorSecret: string;
  agents: ListenAddress;
  http: ListenAddress;
  https: ListenAddress;
  /** The address of all tunnels' ports, instead of the one that each tunnel has. */
  tunnelAddress?: string;
  /** The port that visitors use for https; null: the listening port. */
  publicHttpsPort: number | null;
  /** Folder of certificate files. */
  certificateFolder: string;
  /** Opens the private keys in the database: from `joinKeys`. */
  certificateKey: string;
  trustedProxies: readonly string[];
  /** Country database (mmdb); null: the bundled one. */
  geoFile: string | null;
  /** Database of autonomous systems (mmdb); null: there is none. */
  asnFile: string | null;
  /** Whether rules that deny a country or an autonomous system deny everybody without its database. */
  geoStrict: boolean;
  debug: boolean;
  /** The file with a line for each request to a host. Absent: there is none. */
  accessLog?: { file: string; format: AccessLogFormat };
  /** Where spans of visits go. Absent: visits have none. */
  tracing?: TracingOptions;
  /** Number of serving processes. With more than one, this process is their door. */
  workers: number;
  /** The index of this worker. Null: this process is not a worker, and owns its ports. */
  worker: WorkerPlace | null;
  /** Whether another edge owns the ports: bind them when it releases them. */
  takesOver: boolean;
}

/** The bound ports. */
export interface EdgePorts {
  agents: number;
  http: number;
  https: number;
}

/** What was carried for tunnels or for hosts. */
export interface CarriedFigures {
  connections: number;
  /** Bytes from visitors. */
  upload: number;
  /** Bytes to visitors. */
  download: number;
}

/** Counts since the edge started. */
export interface EdgeFigures {
  carried: Record<ResourceKind, CarriedFigures>;
  /** Refused visitors. */
  refusals: Refusals;
}

export interface EdgeStatus {
  pid: number;
  /** Revision of the configuration in force. */
  revision: number;
  /** Id of the edge. Absent in older versions. */
  edge?: string | undefined;
  /** Whether it accepts nobody because an administrator wants so. Absent in older versions. */
  drained?: boolean | undefined;
  /** Whether it has just started and does not know yet which agents are connected to other edges. Absent in older versions. */
  settling?: boolean | undefined;
  /** Origin of the configuration. */
  source: 'database' | 'snapshot';
  databaseAnswers: boolean;
  /** Write problems while the database answers, as text. */
  problems?: string[];
  /** Rows that the database refused since the process started: counters, grants, events. */
  refusedRows?: number;
  /** Flows that an unexpected failure ended since the process started; the sum of the door and its workers. */
  flowFailures?: number;
  agents: number;
  connections: number;
  ports: EdgePorts;
  /** Absent in older versions of the edge. */
  agentPort?: AgentPortState;
  /** Absent in older versions. */
  httpsPort?: HttpsPortState;
  /** Sessions of visitors' datagrams. Absent in older versions. */
  datagrams?: Pick<DatagramState, 'sessions' | 'evicted'>;
  /** Absent in older versions. */
  figures?: EdgeFigures;
  /** By process: the edge's own, or its door's and its workers'. Absent in older versions. */
  load?: ProcessLoad[];
  /** Process ids of the workers, if there are several; null for one that does not serve or answer at the moment. */
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

/** Which recorded requests of a host are asked for. */
export interface RequestsQuestion {
  hostId: number;
  filter: RecordFilter;
  limit: number;
  /** With heads and bodies, up to so many bytes; 0: without. */
  detailBytes: number;
}

export interface EdgeAgent extends AgentState {
  /** Whether it used the client's former key. */
  previousKey: boolean;
}

/** All in milliseconds. */
export interface DrainParams {
  spreadMs: number;
  deadlineMs: number;
  settleMs: number;
}

/** What edges ask each other. */
export type PeerMethod = 'agents' | 'tunnels' | 'checkedTargets' | 'connections' | 'kick' | 'requests';

/** `params`: of the request to an edge. */
export type PeerQuestion = { [M in PeerMethod]: { method: M; params: EdgeCalls[M]['params'] } }[PeerMethod];

export interface PeerAnswers<T = unknown> {
  /** Name of the edge that asked. */
  own: string | null;
  /** One for each process of another edge. */
  answers: { name: string; result: T }[];
  /** Names of the edges of which a process did not answer. */
  silent: string[];
}

/** One row for each request to an edge. */
export interface EdgeCalls {
  ping: { params: null; result: null };
  status: { params: null; result: EdgeStatus };
  /** For these clients, or for all. */
  agents: { params: { clientIds: number[] | null }; result: EdgeAgent[] };
  tunnels: { params: { ids: number[] }; result: TunnelState[] };
  /** The targets of these hosts, where this edge checks them. */
  checkedTargets: { params: { hostIds: number[] }; result: CheckedTarget[] };
  connections: { params: { clientId: number; limit: number }; result: ConnectionList };
  /** The last requests of a host that is recorded. */
  requests: { params: RequestsQuestion; result: RecordList };
  /** Sends a recorded request of a host of the client again. */
  replay: {
    params: { clientId: number; hostId: number; request: ReplayRequest };
    result: { id: string } | { refusal: ReplayRefusal };
  };
  /**
   * Reaches the target of a tunnel or host of the client through its agent. `port`: of a tunnel with several, where a
   * visitor would come; absent: the first. An edge that does not know it tries the first, and does not say so.
   */
  checkTarget: { params: { clientId: number; resource: ResourceRef; port: number | undefined }; result: TargetCheck };
  /** Asks the other edges. */
  peers: { params: PeerQuestion; result: PeerAnswers };
  /** True if an agent was connected. */
  kick: { params: { clientId: number }; result: boolean };
  /**
   * Sends all listening sockets (`socket`), and continues to listen. Returns the clients whose agents are connected.
   */
  handOver: { params: null; result: number[] };
  /** Releases the ports for visitors. */
  yield: { params: null; result: null };
  /**
   * Releases the ports and asks agents to move; answered when the ports are free. The process exits after the last
   * connection. `settleMs`: see `TunnelServer.drain`.
   */
  drain: { params: DrainParams; result: null };
  /** As `drain`, but the process stays and keeps its lease, until it is replaced or stopped. */
  retire: { params: DrainParams; result: null };
  /** Lets connections end for `graceMs`, writes the counters, and exits. */
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
  /** The configuration was read; only from an edge that takes over, which waits for `bind`. */
  | { type: 'prepared' }
  /** The ports for visitors are bound; the answer to `moving`. */
  | { type: 'bound' }
  | { type: 'ready'; ports: EdgePorts }
  /** What an administrator wants of this edge, where it is something else; repeated until it is so. */
  | { type: 'wanted'; state: WantedState }
  /** Carries a listening socket. */
  | { type: 'socket'; key: string }
  /** A port of the gateway itself cannot be bound; the process exits. */
  | { type: 'failed'; port: PortName; code: string; message: string }
  | { type: 'response'; id: number; ok: true; result: unknown }
  | { type: 'response'; id: number; ok: false; message: string }
  | { type: 'logs'; entries: EdgeLogEntry[] };
