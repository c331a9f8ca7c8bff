import type { GroupType, KernelConfig } from './config.js';
import type { ConnectionMetadata, ConnectionRecord, ConnectionSnapshot, TracedDecision } from './connection.js';
import type { AsnLookup, CountryLookup, Resolver } from './route.js';

export interface KernelLogger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** All in milliseconds. */
export interface KernelTimeouts {
  /** From accept to a complete request. */
  handshake: number;
  /** Routing, connecting and the outbound's own handshake together. */
  dial: number;
  /** A TCP flow without a byte either way; noticed within twice the time. */
  idle: number;
  /** A UDP flow without a datagram either way. */
  udpIdle: number;
  /** How long a dropped client is left without an answer. */
  drop: number;
  /** A TCP flow of which one side has ended, without a byte either way; noticed within twice the time. */
  halfClosed: number;
}

/** Everything the kernel takes from outside. */
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
}

/** What the last measurement said of a node. */
export interface NodeHealth {
  alive: boolean;
  /** Null when it did not answer. */
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

/** A node failed five dials in a row, or carried a flow or answered a measurement again after that. */
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
  /** The member that the next flow takes; null for an empty group, which rejects, and for `load-balance`. */
  now: string | null;
  /** True while `now` is what a person chose. */
  fixed: boolean;
}

export interface ListenerState {
  name: string;
  type: string;
  address: string;
  /** The port really bound. */
  port: number;
  state: 'listening' | 'failed';
  error: string | null;
}

export interface ApplyResult {
  generation: number;
  previousGeneration: number;
  /** SHA-256 over the configuration, hex. */
  configHash: string;
  /** How many of each were added, removed or altered against the generation before. */
  changed: { nodes: number; groups: number; rules: number; listeners: number };
  /** 0 unless a listener's address changed hands. */
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
  uploadTotal: number;
  downloadTotal: number;
  rssBytes: number;
  /** Flows that a defect ended, and nothing else with them; each is logged. */
  flowFailuresTotal: number;
  /** Of a program that is not this library. */
  programVersion?: string;
}

/** A node tag and rule index that moved bytes or took connections since the last delta. Open connections included. */
export interface TrafficDelta {
  at: number;
  upload: number;
  download: number;
  /** Keyed by outbound tag, built-ins included. */
  outbounds: Record<string, { upload: number; download: number; opened: number; failed: number }>;
  /** Keyed by rule id (database id). */
  rules: Record<string, { hits: number; lastHitAt: number }>;
}

export interface KernelEvents {
  /** Once per flow, at its end, short ones included. */
  closed(record: ConnectionRecord): void;
  /** Once a second while anything moved. Sums to exactly what the records say. */
  traffic(delta: TrafficDelta): void;
  /** A group left its member by itself or was told to. */
  switched(change: GroupSwitched): void;
  /** Transport failures only: an HTTP status never counts against a node. */
  circuit(change: CircuitChanged): void;
}

export interface ProxyKernel {
  /**
   * Makes `config` the current generation. New flows use it; open ones finish on theirs.
   * @throws KernelConfigError naming the bad element; the generation before stays.
   */
  apply(config: KernelConfig): Promise<ApplyResult>;
  /**
   * Chooses a member of a `select`, `url-test` or `fallback` group without a new generation; null leaves the choice to
   * the group again. @throws KernelConfigError for an unknown group or member, and for `load-balance`.
   */
  select(group: string, member: string | null): void;
  /**
   * Takes measurements over; they outlive generations, tags that leave the configuration do not. `testUrl` null: the
   * general ones. Tags not named keep theirs; tags that are no outbound of the configuration are passed over.
   */
  setHealth(testUrl: string | null, report: HealthReport): void;
  groups(): GroupState[];
  connections(): ConnectionSnapshot[];
  /** True if such a connection was open. */
  closeConnection(id: string): boolean;
  closeConnections(): number;
  /** For an own service: the client that a connection was opened for; null where it is none of this kernel's. */
  clientOf(connection: OwnServiceConnection): string | null;
  testRoute(flow: ConnectionMetadata): Promise<TracedDecision>;
  status(): KernelStatus;
  on<E extends keyof KernelEvents>(event: E, listener: KernelEvents[E]): void;
  /** Stops accepting, gives open flows `graceMs`, then ends them; every flow is recorded before it resolves. */
  close(graceMs?: number): Promise<void>;
}

/** A connection as the service that accepted it sees it. */
export interface OwnServiceConnection {
  readonly from: { readonly address: string; readonly port: number };
  readonly to: { readonly address: string; readonly port: number };
  /** How long ago it was accepted. */
  readonly ageMs: number;
}

/** A configuration that cannot run: which element and why. */
export class KernelConfigError extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
    this.name = 'KernelConfigError';
    this.path = path;
  }
}
