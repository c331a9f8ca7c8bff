import { randomBytes } from 'node:crypto';
import { DialError, ERROR_KINDS, ForbiddenTargetError, RejectedError, UserLimitError } from '../interfaces/index.js';
import type {
  ConnectionMetadata,
  ConnectionRecord,
  ConnectionSnapshot,
  ErrorKind,
  ErrorStage,
  FlowOutcome,
  RouteDecision,
  TrafficDelta,
  UserTraffic,
} from '../interfaces/index.js';
import { ConnectionEntry, type FlowControls } from './connection-entry.js';
import { FlowShares } from './flow-shares.js';
import { errorCode, errorKind } from '../transport/dial-error.js';

/**
 * The most open flows of one client address, except this machine's, and of one user, so that some are left for the
 * others.
 */
const MOST_OF_ONE = 8_192;

export interface ConnectionTotals {
  opened: number;
  failed: number;
  failures: Record<ErrorKind, number>;
  rejected: number;
  upload: number;
  download: number;
}

/** All open flows, the traffic since the last delta, and the records of finished flows. */
export class ConnectionTable {
  /** Totals of finished flows; `totals` adds the open ones. */
  private readonly ended: ConnectionTotals = {
    opened: 0,
    failed: 0,
    failures: Object.fromEntries(ERROR_KINDS.map((kind) => [kind, 0])) as Record<ErrorKind, number>,
    rejected: 0,
    upload: 0,
    download: 0,
  };
  private readonly entries = new Map<string, ConnectionEntry>();
  private readonly shares: FlowShares;
  private readonly idPrefix = randomBytes(4).toString('hex');
  private readonly now: () => number;
  private readonly onClosed: (record: ConnectionRecord) => void;
  private sequence = 0;
  private pending: TrafficDelta | null = null;
  /** Of the pending delta. */
  private readonly users = new Map<string, UserTraffic>();
  private sampledAt: number;

  constructor(now: () => number, onClosed: (record: ConnectionRecord) => void, most = MOST_OF_ONE) {
    this.shares = new FlowShares(most);
    this.now = now;
    this.onClosed = onClosed;
    this.sampledAt = now();
  }

  get size(): number {
    return this.entries.size;
  }

  open(metadata: ConnectionMetadata, controls: FlowControls): ConnectionEntry {
    this.sequence += 1;
    const id = `${this.idPrefix}-${this.sequence.toString(36)}`;
    const entry = new ConnectionEntry(id, metadata, this.now(), controls);
    this.entries.set(id, entry);
    this.shares.add(metadata, 1);
    this.ended.opened += 1;
    return entry;
  }

  /** The open flows of a user. */
  openOf(user: string): number {
    return this.shares.ofUser(user);
  }

  /** Whether the flow's client or user has more flows than allowed. */
  isTooMany({ metadata }: ConnectionEntry): boolean {
    return this.shares.isOver(metadata);
  }

  routed(entry: ConnectionEntry, decision: RouteDecision): void {
    entry.routed(decision);
    const delta = this.delta();
    outboundOf(delta, decision.outbound).opened += 1;
    const user = this.userOf(entry);
    if (user) user.opened += 1;
    const ruleId = decision.rule?.id;
    if (ruleId === undefined || ruleId === null) return;
    const hits = (delta.rules[ruleId] ??= { hits: 0, lastHitAt: 0 });
    hits.hits += 1;
    hits.lastHitAt = this.now();
  }

  /** Removes the flow and emits its record. Called once for each flow. */
  close(entry: ConnectionEntry, outcome: FlowOutcome, stage: ErrorStage): void {
    if (!this.entries.delete(entry.id)) return;
    this.shares.add(entry.metadata, -1);
    this.addTraffic(entry);
    const status = flowStatus(outcome, stage);
    this.ended.upload += entry.upload;
    this.ended.download += entry.download;
    if (status.status === 'rejected') this.ended.rejected += 1;
    if (status.status === 'failed') {
      this.ended.failed += 1;
      this.ended.failures[status.errorKind ?? 'other'] += 1;
      if (entry.outbound !== null) this.addFailure(entry, entry.outbound);
    }
    entry.state = 'closing';
    this.onClosed({ ...entry.snapshot(), endedAt: this.now(), httpStatus: entry.httpStatus, ...status });
  }

  snapshots(): ConnectionSnapshot[] {
    return Array.from(this.entries.values(), (entry) => entry.snapshot());
  }

  get(id: string): ConnectionEntry | undefined {
    return this.entries.get(id);
  }

  all(): ConnectionEntry[] {
    return [...this.entries.values()];
  }

  totals(): ConnectionTotals {
    const totals = { ...this.ended, failures: { ...this.ended.failures } };
    for (const entry of this.entries.values()) {
      totals.upload += entry.upload;
      totals.download += entry.download;
    }
    return totals;
  }

  /** Returns the traffic since the last call, and updates the speeds of open flows. Null without traffic. */
  sample(): TrafficDelta | null {
    const now = this.now();
    const elapsed = Math.max(1, now - this.sampledAt);
    this.sampledAt = now;
    for (const entry of this.entries.values()) {
      entry.uploadSpeed = Math.round(((entry.upload - entry.reportedUpload) * 1000) / elapsed);
      entry.downloadSpeed = Math.round(((entry.download - entry.reportedDownload) * 1000) / elapsed);
      this.addTraffic(entry);
    }
    const delta = this.pending;
    this.pending = null;
    if (!delta) return null;
    const users = [...this.users.values()];
    this.users.clear();
    return { ...delta, at: now, ...(users.length > 0 && { users }) };
  }

  private addFailure(entry: ConnectionEntry, outbound: string): void {
    outboundOf(this.delta(), outbound).failed += 1;
    const user = this.userOf(entry);
    if (user) user.failed += 1;
  }

  private userOf({ metadata: { inboundUser: name } }: ConnectionEntry): UserTraffic | null {
    if (name === null) return null;
    const user = this.users.get(name) ?? { user: name, upload: 0, download: 0, opened: 0, failed: 0 };
    this.users.set(name, user);
    return user;
  }

  /** Adds the flow's traffic since its last call to the pending delta. */
  private addTraffic(entry: ConnectionEntry): void {
    const upload = entry.upload - entry.reportedUpload;
    const download = entry.download - entry.reportedDownload;
    if ((upload === 0 && download === 0) || entry.outbound === null) return;
    entry.reportedUpload = entry.upload;
    entry.reportedDownload = entry.download;
    const delta = this.delta();
    delta.upload += upload;
    delta.download += download;
    const outbound = outboundOf(delta, entry.outbound);
    outbound.upload += upload;
    outbound.download += download;
    const user = this.userOf(entry);
    if (!user) return;
    user.upload += upload;
    user.download += download;
  }

  private delta(): TrafficDelta {
    this.pending ??= { at: 0, upload: 0, download: 0, outbounds: {}, rules: {} };
    return this.pending;
  }
}

function outboundOf(delta: TrafficDelta, tag: string): TrafficDelta['outbounds'][string] {
  return (delta.outbounds[tag] ??= { upload: 0, download: 0, opened: 0, failed: 0 });
}

type FlowStatus = Pick<
  ConnectionRecord,
  'status' | 'errorStage' | 'errorKind' | 'errorErrno' | 'errorMessage' | 'closeReason'
>;

/** The fields of a record that say how the flow ended. @param stage where it was when an error was thrown. */
function flowStatus({ closeReason, error }: FlowOutcome, stage: ErrorStage): FlowStatus {
  if (error instanceof ForbiddenTargetError || error instanceof UserLimitError)
    return { ...NO_ERROR, status: 'rejected', closeReason: 'rejected', errorMessage: error.message };
  if (error instanceof RejectedError) return { ...NO_ERROR, status: 'rejected', closeReason: 'rejected' };
  if (closeReason === 'rejected') return { ...NO_ERROR, status: 'rejected', closeReason };
  // A client that leaves or a user who closes is not a failure, whatever error follows.
  if (error === undefined || error === null || closeReason !== 'error')
    return { ...NO_ERROR, status: 'ok', closeReason };
  return {
    status: 'failed',
    closeReason,
    errorStage: error instanceof DialError ? error.stage : stage,
    errorKind: errorKind(error),
    errorErrno: errorCode(error),
    errorMessage: error instanceof Error ? error.message : 'unknown error',
  };
}

const NO_ERROR = { errorStage: null, errorKind: null, errorErrno: null, errorMessage: null } as const;
