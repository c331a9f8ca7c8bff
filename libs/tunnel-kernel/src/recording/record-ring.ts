import type { RecordLevel } from './recorded-request.js';
import type { RequestRecord } from './request-record.js';

/** The last requests of one host, oldest first, in places that are used again: thousands may come in a second. */
export class RecordRing {
  readonly level: RecordLevel;
  /** Approximate size of all records in memory. */
  bytes = 0;
  size = 0;
  private readonly places: (RequestRecord | undefined)[] = [];
  private readonly most: number;
  private first = 0;

  constructor(level: RecordLevel, most: number) {
    this.level = level;
    this.most = most;
  }

  /** The caller has made room for it. */
  add(record: RequestRecord): void {
    const place = (this.first + this.size) % this.most;
    if (place === this.places.length) this.places.push(record);
    else this.places[place] = record;
    this.size += 1;
    this.bytes += record.bytes;
  }

  get isFull(): boolean {
    return this.size === this.most;
  }

  /** 0: the oldest. */
  at(index: number): RequestRecord | undefined {
    return index < 0 || index >= this.size ? undefined : this.places[(this.first + index) % this.most];
  }

  removeOldest(): RequestRecord | undefined {
    const oldest = this.at(0);
    if (!oldest) return undefined;
    this.places[this.first] = undefined;
    this.first = (this.first + 1) % this.most;
    this.size -= 1;
    this.bytes -= oldest.bytes;
    return oldest;
  }
}
