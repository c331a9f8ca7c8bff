import { halveRows, writeBatches } from '@gatehouse/postgres';
import { MemoryGrantStore, type GrantChange } from '@gatehouse/tunnel-kernel';
import type { Queries } from '../common/edge-database.js';
import { parseGrantNews, readGrants, removeGrants, writeGrants } from '../common/grant-rows.js';

/** Limit of one write; the next one continues. */
const BATCH = 1_000;

/**
 * Grants for visitors of raw tunnels, as this edge looks them up: those of the table, which all edges and services
 * write, and recent ones that are not in it yet.
 */
export class EdgeGrants {
  readonly store: MemoryGrantStore;
  private readonly queries: Queries;
  private readonly onRefused: (changes: readonly GrantChange[], error: unknown) => void;
  private reading: Promise<void> | null = null;
  /** Notifications that came during a read of the table: they may be newer. */
  private readonly waiting: (readonly GrantChange[] | null)[] = [];
  /** Whether the table may have more grants. */
  private missed = false;
  private writing: Promise<void> | null = null;

  /** `onRefused`: the database refuses these grants, so they are valid at this edge only. */
  constructor(
    queries: Queries,
    now: () => number,
    onRefused: (changes: readonly GrantChange[], error: unknown) => void,
  ) {
    this.queries = queries;
    this.onRefused = onRefused;
    this.store = new MemoryGrantStore(now);
  }

  /** Reads all grants. @throws errors of the database; the known grants stay. */
  read(): Promise<void> {
    this.reading ??= this.readAll();
    return this.reading;
  }

  /** Handles a notification; null: some may have been missed. @throws as `read` */
  async receive(news: string | null): Promise<void> {
    const changes = news === null ? null : parseGrantNews(news);
    if (this.reading) this.waiting.push(changes);
    else if (changes) this.store.receive(changes);
    else await this.read();
  }

  /**
   * Writes local changes, and reads what was missed; concurrent calls wait for the running one. @throws errors of the
   * database; the next call tries again.
   */
  write(): Promise<void> {
    this.writing ??= this.writeChanges().finally(() => {
      this.writing = null;
    });
    return this.writing;
  }

  /** Writes the last changes. @throws as `write` */
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

  /** Writing or removing a grant twice does no harm, so a part that was half written may be written again. */
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
        // Many may have changed during the read.
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
