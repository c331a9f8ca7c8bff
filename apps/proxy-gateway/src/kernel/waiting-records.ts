import type { ConnectionRecord, TrafficDelta } from '@gatehouse/proxy-kernel';
import type { SpoolRange } from '../common/spool-range.js';
import type { RecordSpool, SpoolEntry } from './record-spool.js';

const MAX_RECORDS = 100_000;
const MAX_DELTAS = 600;
/** Records per message: a burst of short flows must not become one huge JSON string. */
const BATCH_RECORDS = 2_000;

interface WaitingEntry {
  closed: ConnectionRecord[];
  traffic: TrafficDelta[];
  /** Where the turn is stored in the spool; null if it is not. */
  kept: { spool: string; number: number } | null;
}

export interface TakenRecords {
  closed: ConnectionRecord[];
  traffic: TrafficDelta[];
  /** The spool entries that contain exactly these records; null: none of them is in the spool. */
  source: SpoolRange | null;
}

/**
 * Records and traffic that wait to be sent, in the same portions as in the spool. Past the bounds the newest records
 * are dropped and counted; traffic is added up.
 */
export class WaitingRecords {
  readonly #spool: RecordSpool | null;
  #turn: { closed: ConnectionRecord[]; traffic: TrafficDelta[] } = { closed: [], traffic: [] };
  #entries: WaitingEntry[] = [];
  #records = 0;
  #deltas = 0;
  #endOfTurn: NodeJS.Immediate | null = null;

  constructor(spool: RecordSpool | null) {
    this.#spool = spool;
  }

  get isEmpty(): boolean {
    return this.#entries.length + this.#turn.closed.length + this.#turn.traffic.length === 0;
  }

  /** Returns false if there is no room. */
  addRecord(record: ConnectionRecord): boolean {
    if (this.#records >= MAX_RECORDS) return false;
    this.#records++;
    this.#turn.closed.push(record);
    this.#keepAtEndOfTurn();
    return true;
  }

  addDelta(delta: TrafficDelta): void {
    const last = this.#deltas < MAX_DELTAS ? undefined : this.#takeLastDelta();
    // The sums stay right however long nobody receives them; they only cover a longer time.
    this.#turn.traffic.push(last ? addDeltas(last, delta) : delta);
    this.#deltas++;
    this.#keepAtEndOfTurn();
  }

  /** Writes to the spool what was added since the last call. */
  keep(): void {
    if (this.#endOfTurn) clearImmediate(this.#endOfTurn);
    this.#endOfTurn = null;
    const { closed, traffic } = this.#turn;
    this.#turn = { closed: [], traffic: [] };
    for (let from = 0; from === 0 || from < closed.length; from += BATCH_RECORDS) {
      this.#keepEntry(closed.slice(from, from + BATCH_RECORDS), from === 0 ? traffic : []);
    }
  }

  /** Removes and returns the oldest portions, about as many as fit into one message. */
  take(): TakenRecords {
    this.keep();
    const until = this.#endOfBatch();
    const taken = this.#entries.splice(0, until);
    const closed = taken.flatMap((entry) => entry.closed);
    const traffic = taken.flatMap((entry) => entry.traffic);
    this.#records -= closed.length;
    this.#deltas -= traffic.length;
    const [first, last] = [taken[0]?.kept, taken.at(-1)?.kept];
    return {
      closed,
      traffic,
      source: first && last ? { spool: first.spool, first: first.number, last: last.number } : null,
    };
  }

  /** Puts entries of the spool in front, to be sent in any case. */
  putFirst(entries: readonly SpoolEntry[]): void {
    this.#entries.unshift(
      ...entries.map(({ spool, number, closed, traffic }) => ({ closed, traffic, kept: { spool, number } })),
    );
    for (const { closed, traffic } of entries) {
      this.#records += closed.length;
      this.#deltas += traffic.length;
    }
  }

  #keepAtEndOfTurn(): void {
    if (this.#spool) this.#endOfTurn ??= setImmediate(() => this.keep());
  }

  #keepEntry(closed: ConnectionRecord[], traffic: TrafficDelta[]): void {
    if (closed.length + traffic.length === 0) return;
    const number = this.#spool?.append(closed, traffic) ?? null;
    const kept = number === null || !this.#spool ? null : { spool: this.#spool.id, number };
    this.#entries.push({ closed, traffic, kept });
  }

  /** Portions of one message must be adjacent in the spool, or not in it at all. */
  #endOfBatch(): number {
    let records = 0;
    let index = 0;
    for (; index < this.#entries.length && records < BATCH_RECORDS; index++) {
      const [before, next] = [this.#entries[index - 1], this.#entries[index]!];
      if (before && !follows(before.kept, next.kept)) break;
      records += next.closed.length;
    }
    return index;
  }

  /**
   * Removes the traffic from the newest portion that has any; its spool entry will contain it together with the next.
   */
  #takeLastDelta(): TrafficDelta | undefined {
    this.#deltas--;
    if (this.#turn.traffic.length > 0) return this.#turn.traffic.pop();
    return this.#entries.findLast(({ traffic }) => traffic.length > 0)?.traffic.pop();
  }
}

function follows(before: WaitingEntry['kept'], next: WaitingEntry['kept']): boolean {
  if (before === null || next === null) return before === next;
  return before.spool === next.spool && before.number + 1 === next.number;
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
