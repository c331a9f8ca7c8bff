import { guardPromise } from '@gatehouse/net';
import type { CircuitChanged, ConnectionRecord, GroupSwitched, TrafficDelta } from '@gatehouse/proxy-kernel';
import type { EventBatch, KernelLogEntry } from '../common/kernel-ipc.js';
import { addRange, type SpoolRange } from '../common/spool-range.js';
import type { RecordSpool } from './record-spool.js';
import { WaitingRecords } from './waiting-records.js';

const MAX_CHANGES = 10_000;
const MAX_LOGS = 2_000;

/**
 * Without a spool, events that wait are lost when the process is killed. A message costs both sides about 20 µs, so
 * this interval is cheap.
 */
const INTERVAL_MS = 20;

const nothingDropped = (): EventBatch['dropped'] => ({ closed: 0, traffic: 0, changes: 0, logs: 0 });

/**
 * Holds events until the service has received them. At most one batch is under way, so a slow reader makes batches
 * larger instead of queueing messages. Past the bounds the newest events are dropped (of log lines the oldest) and
 * counted, never silently; traffic is added up. With a spool, records and traffic outlive this process until the
 * service reports that they are stored.
 */
export class KernelEventQueue {
  readonly #send: (batch: EventBatch) => Promise<void>;
  readonly #intervalMs: number;
  readonly #spool: RecordSpool | null;
  readonly #records: WaitingRecords;
  /** Entries of the spool to be sent once it is known which of them are stored. */
  #left: SpoolRange[];
  #switched: GroupSwitched[] = [];
  #circuits: CircuitChanged[] = [];
  #logs: KernelLogEntry[] = [];
  #dropped = nothingDropped();
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;

  /** @param send resolves when the channel has accepted the batch, and rejects when it is closed. */
  constructor(send: (batch: EventBatch) => Promise<void>, intervalMs = INTERVAL_MS, spool: RecordSpool | null = null) {
    this.#send = send;
    this.#intervalMs = intervalMs;
    this.#spool = spool;
    this.#records = new WaitingRecords(spool);
    this.#left = [...(spool?.left ?? [])];
  }

  /** Spools with entries that wait for `resume`. */
  get leftSpools(): string[] {
    return [...new Set(this.#left.map(({ spool }) => spool))];
  }

  /** Reports that these records are in the database. */
  stored(ranges: readonly SpoolRange[]): void {
    this.#spool?.stored(ranges);
  }

  /** The service that had received these records is gone. */
  lost(ranges: readonly SpoolRange[]): void {
    for (const range of ranges) addRange(this.#left, range);
  }

  /** Sends the remaining entries, except the stored ones. */
  resume(stored: readonly SpoolRange[]): void {
    const left = this.#left.splice(0);
    this.#spool?.stored(stored);
    this.#records.putFirst(this.#spool?.read(left) ?? []);
    this.#schedule();
  }

  /** Writes to the spool what would otherwise be lost when the process ends now. */
  keep(): void {
    this.#records.keep();
  }

  closed(record: ConnectionRecord): void {
    if (!this.#records.addRecord(record)) this.#dropped.closed++;
    this.#schedule();
  }

  traffic(delta: TrafficDelta): void {
    this.#records.addDelta(delta);
    this.#schedule();
  }

  switched(change: GroupSwitched): void {
    this.#change(this.#switched, change);
  }

  circuit(change: CircuitChanged): void {
    this.#change(this.#circuits, change);
  }

  log(entry: KernelLogEntry): void {
    this.#logs.push(entry);
    // The newest lines show the present state, and a service may have been away for hours.
    if (this.#logs.length > MAX_LOGS) {
      this.#logs.shift();
      this.#dropped.logs++;
    }
    this.#schedule();
  }

  /** Restores a batch left by the previous run, to be sent first. */
  restore(batch: EventBatch): void {
    for (const record of batch.closed) this.closed(record);
    for (const delta of batch.traffic) this.traffic(delta);
    this.#switched.push(...batch.switched);
    this.#circuits.push(...batch.circuits);
    this.#logs.push(...batch.logs);
    for (const kind of Object.keys(this.#dropped) as (keyof EventBatch['dropped'])[]) {
      this.#dropped[kind] += batch.dropped[kind];
    }
    if (this.#hasSomething()) this.#schedule();
  }

  /** Empties the queue, for a caller that cannot wait until everything is sent. */
  drain(): EventBatch[] {
    const batches: EventBatch[] = [];
    while (this.#hasSomething()) batches.push(this.#take());
    return batches;
  }

  /** Sends everything in the queue. Resolves when the channel has accepted it, or is closed. */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#sending;
    while (this.#hasSomething()) await this.#sendOne();
  }

  #change<T>(list: T[], change: T): void {
    if (list.length >= MAX_CHANGES) this.#dropped.changes++;
    else list.push(change);
    this.#schedule();
  }

  #hasSomething(): boolean {
    const lists = [this.#switched, this.#circuits, this.#logs];
    if (!this.#records.isEmpty || lists.some((list) => list.length > 0)) return true;
    return Object.values(this.#dropped).some((count) => count > 0);
  }

  #schedule(): void {
    if (this.#timer || this.#sending) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#hasSomething()) guardPromise(null, this.#sendOne());
    }, this.#intervalMs);
  }

  #take(): EventBatch {
    const batch = {
      ...this.#records.take(),
      switched: this.#switched,
      circuits: this.#circuits,
      logs: this.#logs,
      dropped: this.#dropped,
    };
    this.#switched = [];
    this.#circuits = [];
    this.#logs = [];
    this.#dropped = nothingDropped();
    return batch;
  }

  /** A failed send needs no handling: when the channel closes, this process ends (`disconnect`). */
  #sendOne(): Promise<void> {
    this.#sending ??= this.#send(this.#take())
      .catch(() => undefined)
      .finally(() => {
        this.#sending = null;
        if (this.#hasSomething()) this.#schedule();
      });
    return this.#sending;
  }
}
