import { halveRows, writeBatches } from '@gatehouse/postgres';
import { MemoryGrantStore, type GrantChange } from '@gatehouse/tunnel-kernel';
import type { Queries } from '../common/edge-database.js';
import { parseGrantNews, readGrants, removeGrants, writeGrants } from '../common/grant-rows.js';

/** Of one write: the next takes the rest. */
const BATCH = 1_000;

/**
 * Grants of raw tunnels' visitors, for this edge's look-ups. Those of the table, which all edges and services write, and
 * those of the last moment, which are not in it yet.
 */
export class EdgeGrants {
  readonly store: MemoryGrantStore;
  private readonly queries: Queries;
  private readonly onRefused: (changes: readonly GrantChange[], error: unknown) => void;
  private reading: Promise<void> | null = null;
  /** Notifications that came while the table was read: they may be newer. */
  private readonly waiting: (readonly GrantChange[] | null)[] = [];
  /** There may be more in the table than is known. */
  private missed = false;
  private writing: Promise<void> | null = null;

  /** `onRefused`: the database refuses these; they hold at this edge alone. */
  constructor(
    queries: Queries,
    now: () => number,
    onRefused: (changes: readonly GrantChange[], error: unknown) => void,
  ) {
    this.queries = queries;
    this.onRefused = onRefused;
    this.store = new MemoryGrantStore(now);
  }

  /** Reads all of them. @throws what the database raises; what was known stays. */
  read(): Promise<void> {
    this.reading ??= this.readAll();
    return this.reading;
  }

  /** A notification; null: some may have been missed. @throws as `read` */
  async receive(news: string | null): Promise<void> {
    const changes = news === null ? null : parseGrantNews(news);
    if (this.reading) this.waiting.push(changes);
    else if (changes) this.store.receive(changes);
    else await this.read();
  }

  /**
   * Writes what happened here, and reads what was missed; who asks while that runs waits for it. @throws what the database
   * raises; it is tried again with the next.
   */
  write(): Promise<void> {
    this.writing ??= this.writeChanges().finally(() => {
      this.writing = null;
    });
    return this.writing;
  }

  /** Nothing happens here any more. @throws as `write` */
  async writeLast(): Promise<void> {
    await this.writing?.catch(() => undefined);
    await this.write();
  }

  private async writeChanges(): Promise<void> {
    const changes = this.store.takeChanges();
    const parts: (readonly GrantChange[])[] = [];
    for (let start = 0; start < changes.length; start += BATCH) parts.push(changes.slice(start, start + BATCH));
    try {
      await writeBatches(parts, {
        write: (part) => this.writePart(part),
        halve: halveRows,
        setAside: this.onRefused,
      });
    } catch (error) {
      this.store.restore(parts.flat());
      throw error;
    }
    if (this.missed) await this.read();
  }

  /** Writing a grant or removing one twice does no harm: a part of which half was written may be written again. */
  private async writePart(part: readonly GrantChange[]): Promise<void> {
    await writeGrants(
      this.queries,
      part.flatMap(({ grant }) => grant ?? []),
    );
    await removeGrants(
      this.queries,
      part.flatMap(({ grant, ...key }) => (grant ? [] : [key])),
    );
  }

  private async readAll(): Promise<void> {
    this.missed = true;
    try {
      while (this.missed) {
        this.store.replace(await readGrants(this.queries));
        // Many may have changed while they were read.
        this.missed = this.waiting.includes(null);
        this.receiveWaiting();
      }
    } finally {
      this.reading = null;
      this.receiveWaiting();
    }
  }

  private receiveWaiting(): void {
    for (const changes of this.waiting.splice(0)) this.store.receive(changes ?? []);
  }
}
