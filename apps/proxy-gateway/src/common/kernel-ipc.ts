/**
 * The messages between the service and its kernel. The child process imports this file too, so it holds types and
 * constants only.
 */
import type {
  ApplyResult,
  CircuitChanged,
  ConnectionMetadata,
  ConnectionRecord,
  ConnectionSnapshot,
  GroupState,
  GroupSwitched,
  HealthReport,
  KernelConfig,
  KernelStatus,
  KernelProbe,
  OwnServiceConnection,
  ProbeResult,
  RefusedRule,
  RuleConfig,
  TracedDecision,
  TrafficDelta,
} from '@gatehouse/proxy-kernel';
import type { GeoFilePaths } from '../kernel/kernel-geo.js';
import type { KernelFigures, KernelIdentity, ListenPlace, RefusedListener } from './kernel-figures.js';
import type { SpoolRange } from './spool-range.js';

/** Selects the open connections to close: those that match every field given; without any field, all of them. */
export interface CloseFilter {
  /** A group in their chain. */
  group?: string;
  /** With `group`: the tag of the member that the group chose for them. */
  member?: string;
  ids?: readonly string[];
}

/** The number and the bytes of the open connections that use one tag. */
export interface TagUsage {
  connections: number;
  upload: number;
  download: number;
}

export type GroupInUse = Omit<GroupState, 'members'>;

/** What groups use at the moment. */
export interface KernelInUse {
  /** Null: no kernel answers. */
  groups: GroupInUse[] | null;
  /** Of open connections: keyed by every tag in their chains, groups, nodes and built-ins. */
  usage: Record<string, TagUsage>;
}

/** A configuration with the name by which services and kernels compare what is in force. */
export type RevisedConfig = KernelConfig & { revision?: string };

/** The bytes of the last second. */
export type LiveTraffic = Pick<TrafficDelta, 'at' | 'upload' | 'download'>;

/** The calls that the kernel answers. */
export interface KernelCalls {
  ping: { params: null; result: null };
  apply: { params: RevisedConfig; result: ApplyResult };
  select: { params: { group: string; member: string | null }; result: null };
  setHealth: { params: { testUrl: string | null; report: HealthReport }; result: null };
  /** Without the members, since there are many. */
  groupsInUse: { params: null; result: GroupInUse[] };
  connections: { params: null; result: ConnectionSnapshot[] };
  closeConnection: { params: { id: string }; result: boolean };
  closeConnections: { params: CloseFilter; result: number };
  usage: { params: null; result: KernelInUse['usage'] };
  /** The two of them at once. A kernel of an older version returns undefined. */
  inUse: { params: null; result: KernelInUse | undefined };
  /** The client behind a connection from the kernel to one of our own services. */
  clientOf: { params: OwnServiceConnection; result: string | null };
  /** The addresses of the machine that the kernel runs on. A kernel of an older version returns undefined. */
  addresses: { params: null; result: readonly string[] | undefined };
  testRoute: { params: ConnectionMetadata; result: TracedDecision };
  /** A kernel of an older version returns undefined. */
  refusedRules: { params: readonly RuleConfig[]; result: RefusedRule[] | undefined };
  /** Measures a node that this kernel dials, with other programs as well. The embedded kernel has no such call. */
  probe: { params: KernelProbe; result: ProbeResult };
  status: { params: null; result: KernelStatus };
  /** A kernel of an older version returns undefined, like for the next three calls. */
  figures: { params: null; result: KernelFigures | undefined };
  /** Sends `live` messages over this link from now on. Only a separate kernel does. */
  watch: { params: null; result: true | undefined };
  /** Closes the listeners, or opens them again. Open connections stay. Only a separate kernel does. */
  drain: { params: { draining: boolean }; result: KernelFigures | undefined };
  /** Tries to listen on these addresses without keeping them; null: all of them are possible. */
  canListen: { params: readonly ListenPlace[]; result: RefusedListener | null | undefined };
  /** Ends every flow, delivers the last records, and lets the process exit. */
  shutdown: { params: { graceMs: number }; result: null };
  /** The database files to use from now on. */
  reloadGeo: { params: GeoFilePaths; result: null };
  /** Confirms that these records are in the database. */
  stored: { params: readonly SpoolRange[]; result: null };
  /**
   * The answer to `left`, and the request to repeat records that the service dropped: the kernel sends them again,
   * except those that are stored.
   */
  resume: { params: { stored: readonly SpoolRange[]; lost: readonly SpoolRange[] }; result: null };
}
export type KernelMethod = keyof KernelCalls;

export interface KernelLogEntry {
  at: number;
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  fields?: Record<string, unknown>;
}

export type ParentMessage = {
  [M in KernelMethod]: { type: 'request'; id: number; method: M; params: KernelCalls[M]['params'] };
}[KernelMethod];

/** An error as it crosses the channel. `path` is set for an invalid configuration. */
export interface RemoteError {
  name: string;
  message: string;
  path?: string;
}

/** The events since the previous batch, in order. */
export interface EventBatch {
  closed: ConnectionRecord[];
  traffic: TrafficDelta[];
  /** Where `closed` and `traffic` are kept until they are stored; null or absent: nowhere. */
  source?: SpoolRange | null;
  switched: GroupSwitched[];
  circuits: CircuitChanged[];
  logs: KernelLogEntry[];
  /**
   * The numbers of events since the previous batch that did not fit the queue: records, deltas, switches and circuits
   * together, log lines.
   */
  dropped: { closed: number; traffic: number; changes: number; logs: number };
}

/** The kernel's first message. */
export interface KernelReady {
  type: 'ready';
  pid: number;
  /** Of a separate kernel: identifies this run, and numbers its batches from 1. */
  instance?: string;
  /** Of a separate kernel of this version or a later one. */
  identity?: KernelIdentity;
}

export type ChildMessage =
  | KernelReady
  | { type: 'live'; traffic: LiveTraffic }
  /** As far as the kernel knows, records of these spools were not stored. */
  | { type: 'left'; spools: string[] }
  | { type: 'response'; id: number; ok: true; result: unknown }
  | { type: 'response'; id: number; ok: false; error: RemoteError }
  | ({ type: 'events' } & EventBatch);
