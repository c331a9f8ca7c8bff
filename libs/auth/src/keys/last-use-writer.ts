import type { JsonLogger } from '@gatehouse/platform';
import type { DataSource } from 'typeorm';

const FLUSH_MS = 5_000;
const MAX_NOTED = 10_000;

interface Use {
  readonly at: Date;
  readonly ip: string | null;
}

/** A table with the columns last_used_at and last_used_ip, and the column with the ids of its rows. */
export interface LastUseTable {
  readonly table: string;
  readonly id: string;
}

/**
 * Collects when keys or sessions were used and writes the latest use of each in one statement every few seconds. The
 * statement has three parameters: ids, times and addresses, as arrays.
 */
export class LastUseWriter {
  private readonly noted = new Map<number, Use>();
  private readonly dataSource: DataSource;
  private readonly logger: JsonLogger;
  private readonly statement: string;
  private timer: NodeJS.Timeout | undefined;

  constructor(dataSource: DataSource, logger: JsonLogger, target: LastUseTable | string) {
    this.dataSource = dataSource;
    this.logger = logger;
    this.statement = typeof target === 'string' ? target : updateOf(target);
  }

  note(id: number, ip: string | null | undefined): void {
    if (this.noted.size >= MAX_NOTED && !this.noted.has(id)) return;
    this.noted.set(id, { at: new Date(), ip: ip ?? null });
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Never rejects: a lost time of use must not fail a request or a shutdown. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.noted.size === 0) return;
    const uses = [...this.noted];
    this.noted.clear();
    try {
      await this.dataSource.query(this.statement, [
        uses.map(([id]) => id),
        uses.map(([, { at }]) => at),
        uses.map(([, { ip }]) => ip),
      ]);
    } catch (error) {
      this.logger.warn('the last uses of credentials were not stored', { error }, 'LastUseWriter');
    }
  }

  async stop(): Promise<void> {
    await this.flush();
  }
}

function updateOf({ table, id }: LastUseTable): string {
  return `UPDATE ${table} AS kept SET last_used_at = used.at, last_used_ip = used.ip
    FROM unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS used (id, at, ip)
    WHERE kept.${id} = used.id AND (kept.last_used_at IS NULL OR kept.last_used_at < used.at)`;
}
