import { pgPool, PgListener } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { SqlRunner } from '../audit/record-event.js';

/** The subject whose rights changed. `endpoint` and `quota` stand for all switches and profiles. */
export type Subject =
  `${'application' | 'credential' | 'grant' | 'user'}:${number}` | `token:${string}` | 'endpoint:all' | 'quota:all';

const CHANNEL = 'resource-sharing:revocations';
const POLL_MS = 1_000;
/** Longer than any cache keeps a value. */
const MARK_MS = 35_000;
const MAX_MARKS = 10_000;
/** A notification holds 8000 bytes. */
const MAX_PAYLOAD_SUBJECTS = 90;
const EVERYTHING = '*';

interface Mark {
  readonly sequence: number;
  readonly at: number;
}

/**
 * Notifies every replica when the rights of a subject change, so that no replica uses a stale cache entry. Messages are
 * numbered: a replica that misses one notices it with the next one, or when it reads the number each second.
 */
@Injectable()
export class Revocations implements OnModuleInit, BeforeApplicationShutdown {
  private readonly marks = new Map<string, Mark>();
  private readonly observers: ((subject: string) => void)[] = [];
  private current = 0;
  private everything = 0;
  private epoch = 0;
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> | undefined;
  private stopListening: (() => Promise<void>) | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly listener: PgListener,
    private readonly logger: JsonLogger,
  ) {}

  async onModuleInit(): Promise<void> {
    this.stopListening = await this.listener.listen(
      CHANNEL,
      (payload) => this.receive(payload),
      () => this.forgetEverything(),
    );
    this.epoch = await this.readEpoch();
    this.timer = setInterval(() => void this.poll(), POLL_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.polling;
    await this.stopListening?.();
    this.stopListening = undefined;
  }

  /** Grows with every change: read it before a row, and pass it to isStale() with the row. */
  get sequence(): number {
    return this.current;
  }

  /** Whether any of these subjects has changed since `sequence` was read. */
  isStale(sequence: number, subjects: readonly string[]): boolean {
    if (sequence < this.everything) return true;
    if (this.marks.size === 0) return false;
    return subjects.some((subject) => (this.marks.get(subject)?.sequence ?? 0) > sequence);
  }

  /** Called with every changed subject, or `*` for all of them. */
  observe(observer: (subject: string) => void): void {
    this.observers.push(observer);
  }

  /** Must be the last statement of the transaction that changes the rights: it locks a row that all share. */
  async announce(tx: SqlRunner, subjects: readonly Subject[]): Promise<void> {
    if (subjects.length === 0) return;
    const text = subjects.length > MAX_PAYLOAD_SUBJECTS ? EVERYTHING : subjects.join(' ');
    for (const subject of text.split(' ')) this.mark(subject);
    await tx.query(
      `WITH next AS (
         INSERT INTO revocation_epoch AS present (epoch) VALUES (1)
         ON CONFLICT (only_row) DO UPDATE SET epoch = present.epoch + 1 RETURNING epoch)
       SELECT pg_notify($1, epoch || ' ' || $2::text) FROM next`,
      [CHANNEL, text],
    );
  }

  private receive(payload: string): void {
    const [number = '', ...subjects] = payload.split(' ');
    const epoch = Number(number);
    if (!Number.isSafeInteger(epoch) || epoch > this.epoch + 1) this.forgetEverything();
    this.epoch = Math.max(this.epoch, Number.isSafeInteger(epoch) ? epoch : 0);
    for (const subject of subjects) this.mark(subject);
  }

  private mark(subject: string): void {
    if (subject === EVERYTHING || this.marks.size >= MAX_MARKS) return this.forgetEverything();
    this.current += 1;
    this.marks.delete(subject);
    this.marks.set(subject, { sequence: this.current, at: performance.now() });
    this.notify(subject);
  }

  private forgetEverything(): void {
    this.current += 1;
    this.everything = this.current;
    this.marks.clear();
    this.notify(EVERYTHING);
  }

  private notify(subject: string): void {
    for (const observer of this.observers) observer(subject);
  }

  private poll(): Promise<void> {
    this.polling ??= this.compareEpoch().finally(() => {
      this.polling = undefined;
    });
    return this.polling;
  }

  private async compareEpoch(): Promise<void> {
    this.dropOldMarks();
    try {
      const epoch = await this.readEpoch();
      if (epoch <= this.epoch) return;
      this.epoch = epoch;
      this.forgetEverything();
    } catch (error) {
      // Without the database, revocations in the meantime are unknown.
      this.forgetEverything();
      this.logger.warn('the number of revocations could not be read', { error }, 'Revocations');
    }
  }

  private async readEpoch(): Promise<number> {
    const { rows } = await pgPool(this.dataSource).query<{ epoch: number }>({
      name: 'revocation_epoch',
      text: 'SELECT epoch FROM revocation_epoch',
    });
    return rows[0]?.epoch ?? 0;
  }

  private dropOldMarks(): void {
    const end = performance.now() - MARK_MS;
    for (const [subject, { at }] of this.marks) {
      if (at > end) return;
      this.marks.delete(subject);
    }
  }
}
