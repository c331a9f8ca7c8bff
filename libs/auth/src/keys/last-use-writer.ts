import type { JsonLogger } from '@gatehouse/platform';
import type { DataSource } from 'typeorm';

const FLUSH_MS = 5_000;
const MAX_NOTED = 10_000;

interface Use {
  readonly at: Date;
  readonly ip: string | null;
}

/** Collects when keys were used and writes the newest use of each in one statement every few seconds. */
export class LastUseWriter {
  private readonly noted = new Map<number, Use>();
  private readonly dataSource: DataSource;
  private readonly logger: JsonLogger;
  private timer: NodeJS.Timeout | undefined;

  constructor(dataSource: DataSource, logger: JsonLogger) {
    this.dataSource = dataSource;
    this.logger = logger;
  }

  note(id: number, ip: string | null): void {
    if (this.noted.size >= MAX_NOTED && !this.noted.has(id)) return;
    this.noted.set(id, { at: new Date(), ip });
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
      await this.dataSource.query(
        `UPDATE api_keys SET last_used_at = used.at, last_used_ip = used.ip
         FROM unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS used (id, at, ip)
         WHERE api_keys.id = used.id AND (api_keys.last_used_at IS NULL OR api_keys.last_used_at < used.at)`,
        [uses.map(([id]) => id), uses.map(([, { at }]) => at), uses.map(([, { ip }]) => ip)],
      );
    } catch (error) {
      this.logger.warn('the last uses of API keys were not stored', { error }, 'ApiKeyStore');
    }
  }

  async stop(): Promise<void> {
    await this.flush();
  }
}
