import { halveRows } from '@gatehouse/postgres';
import type { ConnectionRecord, TrafficDelta } from '@gatehouse/proxy-kernel';
import { addRange, type SpoolRange } from '../common/spool-range.js';

export interface FlowCount {
  requests: number;
  errors: number;
  upload: number;
  download: number;
  lastSeenAt: number;
}
export interface DomainBucket extends FlowCount {
  hour: number;
  domain: string;
}
export interface OutboundBucket extends FlowCount {
  hour: number;
  /** A kernel tag: `n12`, `DIRECT`. */
  outbound: string;
}
export interface UserBucket extends FlowCount {
  hour: number;
  user: string;
}
/** The bytes of flows through a group. */
export interface GroupBytes {
  upload: number;
  download: number;
}
export interface RuleHits {
  ruleId: number;
  hits: number;
  lastHitAt: number;
}

/** A finished flow, with the name of its kernel; null or absent while there is only one kernel. */
export type LoggedFlow = ConnectionRecord & { kernel?: string | null };

export interface AccountingLimits {
  /** The most log rows held; a further row is dropped and counted, but its bytes are not lost. */
  logRows: number;
  /** The most domains per hour; further ones share `OTHER_DOMAINS`. */
  domains: number;
}

export const DEFAULT_LIMITS: AccountingLimits = { logRows: 50_000, domains: 20_000 };
export const OTHER_DOMAINS = '(other)';
const HOUR_MS = 3_600_000;
/** Flows may name groups that no longer exist. */
const MAX_GROUPS = 5_000;
/** A host name has at most 253 characters. */
const MAX_DOMAIN = 253;

/**
 * What is written at once. Each figure has one source, so nothing counts twice: the record at a flow's end feeds the
 * logs and the domain buckets; the deltas, which include open flows, feed nodes, users, rules and totals.
 */
export class AccountingBatch {
  readonly logs: LoggedFlow[] = [];
  readonly domains = new Map<string, DomainBucket>();
  readonly outbounds = new Map<string, OutboundBucket>();
  readonly rules = new Map<number, RuleHits>();
  readonly groups = new Map<string, GroupBytes>();
  readonly users = new Map<string, UserBucket>();
  /** Where these records are kept until the batch is stored. */
  readonly sources: SpoolRange[] = [];
  droppedLogs = 0;
  readonly #limits: AccountingLimits;

  constructor(limits: AccountingLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  isEmpty(): boolean {
    return this.rows + this.sources.length === 0;
  }

  get rows(): number {
    return (
      this.logs.length + this.domains.size + this.outbounds.size + this.rules.size + this.groups.size + this.users.size
    );
  }

  addSource(source: SpoolRange): void {
    addRange(this.sources, source);
  }

  addRecord(record: LoggedFlow, keepLog: boolean): void {
    if (keepLog) this.#addLog(record);
    addFlow(this.#domainBucket(record), {
      requests: 1,
      errors: record.status === 'failed' ? 1 : 0,
      upload: record.upload,
      download: record.download,
      lastSeenAt: record.endedAt,
    });
    // The last element is the outbound itself.
    for (const group of record.chain.slice(0, -1)) this.#addGroup(group, record);
  }

  addDelta(delta: TrafficDelta): void {
    for (const [outbound, moved] of Object.entries(delta.outbounds)) {
      addFlow(this.#outboundBucket(outbound, delta.at), {
        requests: moved.opened,
        errors: moved.failed,
        upload: moved.upload,
        download: moved.download,
        lastSeenAt: delta.at,
      });
    }
    for (const [id, hit] of Object.entries(delta.rules)) this.#addHits(Number(id), hit);
    for (const { user, opened: requests, failed: errors, upload, download } of delta.users ?? []) {
      addFlow(this.#userBucket(user, delta.at), { requests, errors, upload, download, lastSeenAt: delta.at });
    }
  }

  /** Splits the batch into two; null if it has only one entry. */
  halve(): [AccountingBatch, AccountingBatch] | null {
    const entries: ((into: AccountingBatch) => void)[] = [
      ...this.logs.map((log) => (into: AccountingBatch) => into.logs.push(log)),
      ...[...this.domains].map(
        ([key, bucket]) =>
          (into: AccountingBatch) =>
            into.domains.set(key, bucket),
      ),
      ...[...this.outbounds].map(
        ([key, bucket]) =>
          (into: AccountingBatch) =>
            into.outbounds.set(key, bucket),
      ),
      ...[...this.rules].map(
        ([id, hits]) =>
          (into: AccountingBatch) =>
            into.rules.set(id, hits),
      ),
      ...[...this.groups].map(
        ([name, bytes]) =>
          (into: AccountingBatch) =>
            into.groups.set(name, bytes),
      ),
      ...[...this.users].map(
        ([key, bucket]) =>
          (into: AccountingBatch) =>
            into.users.set(key, bucket),
      ),
    ];
    const halves = halveRows(entries);
    if (halves === null) return null;
    const made: [AccountingBatch, AccountingBatch] = [
      new AccountingBatch(this.#limits),
      new AccountingBatch(this.#limits),
    ];
    made.forEach((into, index) => halves[index]?.forEach((put) => put(into)));
    made[0].droppedLogs = this.droppedLogs;
    // Written last: if the process ends between the two, the first is written again rather than the second never.
    made[1].sources.push(...this.sources);
    return made;
  }

  #addLog(record: LoggedFlow): void {
    if (this.logs.length < this.#limits.logRows) this.logs.push(record);
    else this.droppedLogs++;
  }

  #addGroup(group: string, { upload, download }: GroupBytes): void {
    if (this.groups.size >= MAX_GROUPS && !this.groups.has(group)) return;
    const sum = getOrAdd(this.groups, group, () => ({ upload: 0, download: 0 }));
    sum.upload += upload;
    sum.download += download;
  }

  #domainBucket(record: ConnectionRecord): DomainBucket {
    const hour = hourOf(record.endedAt);
    const domain = domainOf(record);
    const known = this.domains.get(`${hour} ${domain}`);
    if (known) return known;
    const name = this.domains.size < this.#limits.domains ? domain : OTHER_DOMAINS;
    return getOrAdd(this.domains, `${hour} ${name}`, () => ({ hour, domain: name, ...nothing() }));
  }

  #outboundBucket(outbound: string, at: number): OutboundBucket {
    const hour = hourOf(at);
    return getOrAdd(this.outbounds, `${hour} ${outbound}`, () => ({ hour, outbound, ...nothing() }));
  }

  /** Only users that exist log in, so there are no more of them than of users. */
  #userBucket(user: string, at: number): UserBucket {
    const hour = hourOf(at);
    return getOrAdd(this.users, `${hour} ${user}`, () => ({ hour, user, ...nothing() }));
  }

  #addHits(ruleId: number, { hits, lastHitAt }: { hits: number; lastHitAt: number }): void {
    if (!Number.isSafeInteger(ruleId)) return;
    const entry = getOrAdd(this.rules, ruleId, () => ({ ruleId, hits: 0, lastHitAt: 0 }));
    entry.hits += hits;
    entry.lastHitAt = Math.max(entry.lastHitAt, lastHitAt);
  }
}

/** The name that a flow counts under: the one the client asked for, otherwise the address. */
export function domainOf(flow: { host: string | null; destinationIp: string | null }): string {
  const name = (flow.host ?? flow.destinationIp ?? '').replaceAll('\0', '');
  return name === '' || name.length > MAX_DOMAIN ? OTHER_DOMAINS : name;
}

export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

function nothing(): FlowCount {
  return { requests: 0, errors: 0, upload: 0, download: 0, lastSeenAt: 0 };
}

function addFlow(bucket: FlowCount, more: FlowCount): void {
  bucket.requests += more.requests;
  bucket.errors += more.errors;
  bucket.upload += more.upload;
  bucket.download += more.download;
  bucket.lastSeenAt = Math.max(bucket.lastSeenAt, more.lastSeenAt);
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
