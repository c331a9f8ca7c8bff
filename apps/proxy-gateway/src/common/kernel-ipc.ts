/** What the service and its kernel say to each other. The child imports this file too: types and constants only. */
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
  OwnServiceConnection,
  TracedDecision,
  TrafficDelta,
} from '@gatehouse/proxy-kernel';
import type { GeoFilePaths } from '../kernel/kernel-geo.js';
import type { SpoolRange } from './spool-range.js';

/** Which open connections to end: those that fulfil everything said here, without anything all of them. */
export interface CloseFilter {
  /** Name of a group on their way. */
  group?: string;
  /** With `group`: the tag of the member that the group chose for them. */
  member?: string;
  ids?: readonly string[];
}

/** What the open connections that go through one tag amount to. */
export interface TagUsage {
  connections: number;
  upload: number;
  download: number;
}

export type GroupInUse = Omit<GroupState, 'members'>;

/** One row per thing the kernel can be asked. */
export interface KernelCalls {
  ping: { params: null; result: null };
  apply: { params: KernelConfig; result: ApplyResult };
  select: { params: { group: string; member: string | null }; result: null };
  setHealth: { params: { testUrl: string | null; report: HealthReport }; result: null };
  groups: { params: null; result: GroupState[] };
  /** Without the members, which are many. */
  groupsInUse: { params: null; result: GroupInUse[] };
  connections: { params: null; result: ConnectionSnapshot[] };
  closeConnection: { params: { id: string }; result: boolean };
  closeConnections: { params: CloseFilter; result: number };
  /** By every tag on the way of an open connection: groups, nodes and built-ins. */
  usage: { params: null; result: Record<string, TagUsage> };
  /** The client behind a connection of the kernel's to an own service. */
  clientOf: { params: OwnServiceConnection; result: string | null };
  /** Of the machine that the kernel runs on. A kernel of an older version answers nothing. */
  addresses: { params: null; result: readonly string[] | undefined };
  testRoute: { params: ConnectionMetadata; result: TracedDecision };
  status: { params: null; result: KernelStatus };
  /** Ends every flow, hands over the last records, and lets the process exit. */
  shutdown: { params: { graceMs: number }; result: null };
  /** Files of databases to use from now on. */
  reloadGeo: { params: GeoFilePaths; result: null };
  /** These records are in the database. */
  stored: { params: readonly SpoolRange[]; result: null };
  /** The answer to `left`, and for records that the service has let go: sends them again, without what is stored. */
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

/** An error as it crosses the channel. `path` is set for a configuration that cannot run. */
export interface RemoteError {
  name: string;
  message: string;
  path?: string;
}

/** What happened since the batch before, in order. */
export interface EventBatch {
  closed: ConnectionRecord[];
  traffic: TrafficDelta[];
  /** Where `closed` and `traffic` lie until they are stored; null or absent: nowhere. */
  source?: SpoolRange | null;
  switched: GroupSwitched[];
  circuits: CircuitChanged[];
  logs: KernelLogEntry[];
  /** What did not fit the queue since the batch before: records, deltas, switches and circuits together, log lines. */
  dropped: { closed: number; traffic: number; changes: number; logs: number };
}

export type ChildMessage =
  | { type: 'ready'; pid: number }
  /** Records of these spools were not stored as far as the kernel knows. */
  | { type: 'left'; spools: string[] }
  | { type: 'response'; id: number; ok: true; result: unknown }
  | { type: 'response'; id: number; ok: false; error: RemoteError }
  | ({ type: 'events' } & EventBatch);
