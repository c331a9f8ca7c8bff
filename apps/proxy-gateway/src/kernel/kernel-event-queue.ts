import { guardPromise } from '@gatehouse/net';
import type { CircuitChanged, ConnectionRecord, GroupSwitched, TrafficDelta } from '@gatehouse/proxy-kernel';
import type { EventBatch, KernelLogEntry } from '../common/kernel-ipc.js';

const MAX_RECORDS = 100_000;
const MAX_DELTAS = 600;
const MAX_CHANGES = 10_000;
const MAX_LOGS = 2_000;
/** Records in one message: a burst of short flows must not become one huge JSON string. */
const BATCH_RECORDS = 2_000;

/** What waits is lost with a process that is killed. A message costs both sides some 20 µs, so this is little a second. */
const INTERVAL_MS = 20;

const nothingDropped = (): EventBatch['dropped'] => ({ closed: 0, traffic: 0, changes: 0, logs: 0 });

/**
 * Holds events until the service has them. At most one batch is under way, so a slow reader makes batches larger
 * instead of queueing messages; past the bounds the newest is dropped (of log lines the oldest) and counted, never silently; traffic is added up.
 */
export class KernelEventQueue {
  readonly #send: (batch: EventBatch) => Promise<void>;
  readonly #intervalMs: number;
  #closed: ConnectionRecord[] = [];
  #traffic: TrafficDelta[] = [];
  #switched: GroupSwitched[] = [];
  #circuits: CircuitChanged[] = [];
  #logs: KernelLogEntry[] = [];
  #dropped = nothingDropped();
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;

  /** `send` resolves when the other side's channel took the batch, and rejects when there is no other side. */
  constructor(send: (batch: EventBatch) => Promise<void>, intervalMs = INTERVAL_MS) {
    this.#send = send;
    this.#intervalMs = intervalMs;
  }

  closed(record: ConnectionRecord): void {
    if (this.#closed.length >= MAX_RECORDS) this.#dropped.closed++;
    else this.#closed.push(record);
    this.#schedule();
  }

  traffic(delta: TrafficDelta): void {
    const last = this.#traffic.at(-1);
    // Sums stay right however long nobody takes them; only the seconds become longer.
    if (last && this.#traffic.length >= MAX_DELTAS) this.#traffic[this.#traffic.length - 1] = addDeltas(last, delta);
    else this.#traffic.push(delta);
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
    // The newest lines say how things are now, and a service may have been away for hours.
    if (this.#logs.length > MAX_LOGS) {
      this.#logs.shift();
      this.#dropped.logs++;
    }
    this.#schedule();
  }

  /** What was left of a run before, to be sent first. */
  restore(batch: EventBatch): void {
    this.#closed.push(...batch.closed);
    this.#traffic.push(...batch.traffic);
    this.#switched.push(...batch.switched);
    this.#circuits.push(...batch.circuits);
    this.#logs.push(...batch.logs);
    for (const kind of Object.keys(this.#dropped) as (keyof EventBatch['dropped'])[]) {
      this.#dropped[kind] += batch.dropped[kind];
    }
    if (this.#hasSomething()) this.#schedule();
  }

  /** Takes everything out of the queue, for a caller that cannot wait until it is sent. */
  drain(): EventBatch[] {
    const batches: EventBatch[] = [];
    while (this.#hasSomething()) batches.push(this.#take());
    return batches;
  }

  /** Sends everything that waits. Resolves when the channel has it all, or is gone. */
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
    const lists = [this.#closed, this.#traffic, this.#switched, this.#circuits, this.#logs];
    return lists.some((list) => list.length > 0) || Object.values(this.#dropped).some((count) => count > 0);
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
      closed: this.#closed.splice(0, BATCH_RECORDS),
      traffic: this.#traffic,
      switched: this.#switched,
      circuits: this.#circuits,
      logs: this.#logs,
      dropped: this.#dropped,
    };
    this.#traffic = [];
    this.#switched = [];
    this.#circuits = [];
    this.#logs = [];
    this.#dropped = nothingDropped();
    return batch;
  }

  /** The channel being gone ends this process anyway (`disconnect`), so a failed send has nobody left to tell. */
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

function addDeltas(one: TrafficDelta, other: TrafficDelta): TrafficDelta {
  const sum: TrafficDelta = {
    at: other.at,
    upload: one.upload + other.upload,
    download: one.download + other.download,
    outbounds: { ...one.outbounds },
    rules: { ...one.rules },
  };
  for (const [tag, { upload, download, opened, failed }] of Object.entries(other.outbounds)) {
    const known = sum.outbounds[tag] ?? { upload: 0, download: 0, opened: 0, failed: 0 };
    sum.outbounds[tag] = {
      upload: known.upload + upload,
      download: known.download + download,
      opened: known.opened + opened,
      failed: known.failed + failed,
    };
  }
  for (const [id, { hits, lastHitAt }] of Object.entries(other.rules)) {
    sum.rules[id] = { hits: (sum.rules[id]?.hits ?? 0) + hits, lastHitAt };
  }
  return sum;
}
