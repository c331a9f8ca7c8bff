import { randomBytes } from 'node:crypto';
import { guarded } from '@gatehouse/net';
import type { RecordFilter, RecordLevel, RecordList } from './recorded-request.js';
import { RecordRing } from './record-ring.js';
import { RequestRecord, type RecordKeeper, type RecordStart } from './request-record.js';

export interface RecorderLimits {
  /** Requests of a host. */
  requests: number;
  /** Bytes of a host. */
  bytes: number;
  /** Bytes of all hosts together. */
  total: number;
  /** How long a request is kept after it began, in milliseconds. */
  ageMs: number;
}

export const RECORDER_LIMITS: RecorderLimits = {
  requests: 500,
  bytes: 8 * 1024 * 1024,
  total: 64 * 1024 * 1024,
  ageMs: 3_600_000,
};

const SWEEP_MS = 60_000;

/** Records that are kept to be used again. */
const MAX_SPARE = 1_000;

/**
 * The last requests of hosts whose owners want to see them, in memory alone: they are gone with the process, after an
 * hour, and when recording is turned off or changed.
 */
export class RequestRecorder {
  private readonly now: () => number;
  private readonly limits: RecorderLimits;
  private readonly process = randomBytes(4).toString('hex');
  private readonly rings = new Map<number, RecordRing>();
  private readonly spare: RequestRecord[] = [];
  private readonly keeper: RecordKeeper;
  private total = 0;
  private number = 0;
  private lastStart = 0;
  private sweeper: NodeJS.Timeout | null = null;

  constructor(now: () => number, limits: RecorderLimits = RECORDER_LIMITS) {
    this.now = now;
    this.limits = limits;
    this.keeper = ({ hostId }, bytes) => this.grown(hostId, bytes);
  }

  /** Hosts that are recorded, with their level. What was recorded of others, or with another level, is forgotten. */
  apply(hosts: Iterable<{ id: number; record?: RecordLevel }>): void {
    const levels = new Map<number, RecordLevel>();
    for (const { id, record } of hosts) if (record) levels.set(id, record);
    for (const [id, ring] of this.rings) if (levels.get(id) !== ring.level) this.forget(id, ring);
  }

  begin(start: RecordStart): RequestRecord {
    this.number = (this.number + 1) % 0x1_0000_0000;
    // Ids stay in order when the clock jumps back.
    this.lastStart = Math.max(this.lastStart, start.startedAt);
    const ring = this.ringOf(start);
    if (ring.isFull) this.dropOldest(ring);
    const record = this.spare.pop() ?? new RequestRecord();
    record.begin(start, this.number, this.lastStart, this.keeper);
    ring.add(record);
    this.total += record.bytes;
    this.bound(ring);
    return record;
  }

  /** Newest first. `detailBytes`: with heads and bodies, up to so many bytes, of one request at least; 0: without. */
  list(hostId: number, filter: RecordFilter, limit: number, detailBytes = 0): RecordList {
    const picked = this.pick(hostId, filter, limit);
    if (detailBytes === 0) return { items: picked.map((record) => record.summary(this.idOf(record))), isCut: false };
    let bytes = 0;
    const fitting = picked.filter(({ bytes: own }, index) => {
      bytes += own;
      return index === 0 || bytes <= detailBytes;
    });
    const items = fitting.map((record) => record.detail(this.idOf(record)));
    return { items, isCut: items.length < picked.length };
  }

  stop(): void {
    for (const [id, ring] of this.rings) this.forget(id, ring);
  }

  private pick(hostId: number, filter: RecordFilter, limit: number): RequestRecord[] {
    this.sweep();
    const picked: RequestRecord[] = [];
    const ring = this.rings.get(hostId);
    for (let at = (ring?.size ?? 0) - 1; at >= 0 && picked.length < limit; at--) {
      const record = ring?.at(at);
      if (record && this.fits(record, filter)) picked.push(record);
    }
    return picked;
  }

  private fits(record: RequestRecord, { id, before, ...filter }: RecordFilter): boolean {
    if (id !== undefined && this.idOf(record) !== id) return false;
    return record.fits(filter) && (before === undefined || this.idOf(record) < before);
  }

  idOf({ startedAt, number }: RequestRecord): string {
    return hex(startedAt, 12) + hex(number, 8) + this.process;
  }

  private ringOf({ hostId, level }: RecordStart): RecordRing {
    const known = this.rings.get(hostId);
    if (known?.level === level) return known;
    if (known) this.forget(hostId, known);
    const ring = new RecordRing(level, this.limits.requests);
    this.rings.set(hostId, ring);
    this.sweeper ??= setInterval(
      guarded(null, () => this.sweep()),
      SWEEP_MS,
    ).unref();
    return ring;
  }

  /** A record of the host has grown. */
  private grown(hostId: number, bytes: number): void {
    const ring = this.rings.get(hostId);
    if (!ring) return;
    ring.bytes += bytes;
    this.total += bytes;
    this.bound(ring);
  }

  private bound(ring: RecordRing): void {
    while (ring.bytes > this.limits.bytes && ring.size > 0) this.dropOldest(ring);
    if (this.total > this.limits.total) this.makeRoom();
  }

  /** The host that has most gives up a quarter: nobody pushes out what others have. */
  private makeRoom(): void {
    let most: RecordRing | null = null;
    for (const ring of this.rings.values()) if (!most || ring.bytes > most.bytes) most = ring;
    if (!most) return;
    const goal = (most.bytes * 3) / 4;
    while (most.bytes > goal && most.size > 0) this.dropOldest(most);
  }

  private dropOldest(ring: RecordRing): void {
    const oldest = ring.removeOldest();
    if (!oldest) return;
    this.total -= oldest.bytes;
    oldest.leave();
    // One that is running still belongs to its request.
    if (oldest.isOver && this.spare.length < MAX_SPARE) this.spare.push(oldest);
  }

  private forget(id: number, ring: RecordRing): void {
    while (ring.size > 0) this.dropOldest(ring);
    this.rings.delete(id);
    this.rest();
  }

  private sweep(): void {
    const oldest = this.now() - this.limits.ageMs;
    for (const [id, ring] of this.rings) {
      while ((ring.at(0)?.startedAt ?? Infinity) < oldest) this.dropOldest(ring);
      if (ring.size === 0) this.rings.delete(id);
    }
    this.rest();
  }

  private rest(): void {
    if (this.rings.size > 0) return;
    this.spare.length = 0;
    if (this.sweeper) clearInterval(this.sweeper);
    this.sweeper = null;
  }
}

function hex(number: number, digits: number): string {
  return Math.trunc(number).toString(16).padStart(digits, '0');
}
