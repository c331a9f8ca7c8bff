import type { ProcessLoad } from '@gatehouse/net';
import type { GroupType, KernelConfig, RuleConfig } from './config.js';
import type {
  ConnectionMetadata,
  ConnectionRecord,
  ConnectionSnapshot,
  ErrorKind,
  TracedDecision,
} from './connection.js';
import type { ProbeOptions, ProbeResult, ProbeTarget } from './probe.js';
import type { AsnLookup, CountryLookup, Resolver } from './route.js';

export interface KernelLogger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** All values are in milliseconds. */
export interface KernelTimeouts {
  /** From accept to a complete request. */
  handshake: number;
  /** Routing, connecting and the outbound's own handshake together. */
  dial: number;
  /** For a TCP flow without a byte in either direction; detected within twice the time. */
  idle: number;
  /** For a UDP flow without a datagram in either direction. */
  udpIdle: number;
  /** How long a dropped client is kept without an answer. */
  drop: number;
  /** For a TCP flow of which one side has ended, without a byte in either direction; detected within twice the time. */
  halfClosed: number;
}

/** The dependencies of a kernel. */
export interface KernelEnvironment {
  /** Absent: 10 s, 10 s, 30 min, 60 s, 30 s, 60 s. */
  timeouts?: Partial<KernelTimeouts>;
  /** Milliseconds since the epoch. */
  now(): number;
  logger: KernelLogger;
  resolver: Resolver;
  country: CountryLookup;
  /** Absent: IP-ASN rules match nothing. */
  asn?: AsnLookup;
  /** Whether other kernels of this machine listen on the same ports, each with a share of the connections. Absent: no. */
  sharesPorts?: boolean;
}

/** The result of the last measurement of a node. */
export interface NodeHealth {
  alive: boolean;
  /** Null if it did not answer. */
  delayMs: number | null;
  /** Milliseconds since the epoch. */
  testedAt: number;
}

/** Measurements by outbound tag. */
export type HealthReport = Record<string, NodeHealth>;

/** Why a group uses another member than before. */
export type SwitchReason = 'manual' | 'selected_gone' | 'faster' | 'dead' | 'recovered';

export interface GroupSwitched {
  at: number;
  group: string;
  from: string | null;
  to: string | null;
  reason: SwitchReason;
}

/** A node failed five dials in a row, or carried a flow or answered a measurement after that. */
export interface CircuitChanged {
  at: number;
  tag: string;
  open: boolean;
  failures: number;
}

export interface GroupState {
  name: string;
  type: GroupType;
  /** Members that exist, in order of preference. */
  members: readonly string[];
  /** The member that the next flow uses; null for an empty group, which rejects, and for `load-balance`. */
  now: string | null;
  /** True while `now` is a user's choice. */
  fixed: boolean;
}

export interface ListenerState {
  name: string;
  type: string;
  address: string;
  /** The port that was bound. */
  port: number;
  state: 'listening' | 'failed';
  error: string | null;
}

export interface ApplyResult {
  generation: number;
  previousGeneration: number;
  /** SHA-256 over the configuration, hex. */
  configHash: string;
  /** How many elements of each kind were added, removed or changed since the previous generation. */
  changed: { nodes: number; groups: number; rules: number; listeners: number };
  /** Always 0 unless the address of a listener was taken over by another. */
  droppedConnections: number;
  durationMs: number;
  warnings: string[];
  listeners: ListenerState[];
}

export interface KernelStatus {
  generation: number;
  configHash: string | null;
  startedAt: number;
  listeners: ListenerState[];
  activeConnections: number;
  openedTotal: number;
  failedTotal: number;
  /** Absent in other programs and older versions, as are the next two. */
  failuresByKind?: Readonly<Record<ErrorKind, number>>;
  /** Flows that a rule, or the protection of the platform's own services, rejected. */
  rejectedTotal?: number;
  /** The process of the kernel. */
  load?: ProcessLoad;
  uploadTotal: number;
  downloadTotal: number;
  rssBytes: number;
  /** Flows that were ended by a defect in the code, each of which is logged. */
  flowFailuresTotal: number;
  /** The version of a kernel that is another program. */
  programVersion?: string;
}

/** The traffic and new connections since the last delta, including those of open flows. */
export interface TrafficDelta {
  at: number;
  upload: number;
  download: number;
  /** By outbound tag, including built-ins. */
  outbounds: Record<string, { upload: number; download: number; opened: number; failed: number }>;
  /** By rule id in the database. */
  rules: Record<string, { hits: number; lastHitAt: number }>;
  /** Of users who logged in. Absent in other programs and older versions. */
  users?: UserTraffic[];
}

export interface UserTraffic {
  user: string;
  upload: number;
  download: number;
  opened: number;
  failed: number;
}

export interface KernelEvents {
  /** Emitted once for each flow, at its end. */
  closed(record: ConnectionRecord): void;
  /** Emitted once a second while there is traffic. The sum equals that of the records. */
  traffic(delta: TrafficDelta): void;
  /** A group switched to another member, on its own or by a choice. */
  switched(change: GroupSwitched): void;
  /** Counts transport failures only; an HTTP status never counts against a node. */
  circuit(change: CircuitChanged): void;
}

/** A node to measure. `via`: nodes to dial through, the first hop first. */
export interface KernelProbe extends ProbeTarget, Pick<ProbeOptions, 'url' | 'expectedStatus' | 'timeoutMs'> {
  tag: string;
}

/** A rule, by its index in the question, that this kernel would leave out. */
export interface RefusedRule {
  index: number;
  /** Names the kernel. */
  reason: string;
}

export interface ProxyKernel {
  /**
   * Makes `config` the current generation. New flows use it; open ones finish on theirs.
   * @throws KernelConfigError naming the bad element; the previous generation stays.
   */
  apply(config: KernelConfig): Promise<ApplyResult>;
  /**
   * Chooses a member of a `select`, `url-test` or `fallback` group without a new generation; null lets the group decide
   * again. @throws KernelConfigError for an unknown group or member, and for `load-balance`.
   */
  select(group: string, member: string | null): void;
  /**
   * Stores measurements. They outlive generations, except for tags that leave the configuration. A `testUrl` of null
   * stands for the general ones. Tags without a result keep theirs, and tags that are not outbounds of the
   * configuration are ignored.
   */
  setHealth(testUrl: string | null, report: HealthReport): void;
  groups(): GroupState[];
  connections(): ConnectionSnapshot[];
  /** Returns true if such a connection was open. */
  closeConnection(id: string): boolean;
  closeConnections(): number;
  /** Which of these rules this kernel does not take, though they are valid. Absent: it takes all valid rules. */
  refusedRules?(rules: readonly RuleConfig[]): Promise<RefusedRule[]>;
  /**
   * Measures a node that this kernel dials, whether or not it is in the configuration. A failure is a result. Absent:
   * nodes are measured without a kernel.
   */
  probe?(probe: KernelProbe): Promise<ProbeResult>;
  /** For an own service: the client that a connection was opened for; null if it is not a connection of this kernel. */
  clientOf(connection: OwnServiceConnection): string | null;
  testRoute(flow: ConnectionMetadata): Promise<TracedDecision>;
  status(): KernelStatus;
  on<E extends keyof KernelEvents>(event: E, listener: KernelEvents[E]): void;
  /** Stops accepting, gives open flows `graceMs`, then ends them. Every flow is recorded before it resolves. */
  close(graceMs?: number): Promise<void>;
}

/** A connection as seen by the service that accepted it. */
export interface OwnServiceConnection {
  readonly from: { readonly address: string; readonly port: number };
  readonly to: { readonly address: string; readonly port: number };
  /** How long ago it was accepted. */
  readonly ageMs: number;
}

/** An invalid configuration: the path of the element, and the reason. */
export class KernelConfigError extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
    this.name = 'KernelConfigError';
    this.path = path;
  }
}
