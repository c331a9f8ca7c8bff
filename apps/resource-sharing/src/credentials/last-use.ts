import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';

const FLUSH_MS = 5_000;
const MAX_NOTED = 10_000;

interface Use {
  /** Milliseconds since the epoch. */
  at: number;
  ip: string | null;
}

/** Notes when credentials are used and writes the last use of each in one statement every few seconds. */
@Injectable()
export class LastUse implements BeforeApplicationShutdown {
  private readonly noted = new Map<number, Use>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: JsonLogger,
  ) {}

  note(credentialId: number, ip: string | undefined): void {
    const use = this.noted.get(credentialId);
    if (use !== undefined) {
      use.at = Date.now();
      use.ip = ip ?? null;
      return;
    }
    if (this.noted.size >= MAX_NOTED) return;
    this.noted.set(credentialId, { at: Date.now(), ip: ip ?? null });
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
      await this.dataSource.query(STATEMENT, [
        uses.map(([id]) => id),
        uses.map(([, { at }]) => new Date(at)),
        uses.map(([, { ip }]) => ip),
      ]);
    } catch (error) {
      this.logger.warn('the last uses of credentials were not stored', { error }, 'LastUse');
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}

/** A personal key that turns up at a new address is an event of its user. */
const STATEMENT = `
  WITH used AS (SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS used (id, at, ip)),
  before AS (
    SELECT c.id, c.user_id, c.kind, c.last_used_ip, used.at, used.ip
    FROM credentials c JOIN used ON used.id = c.id
    WHERE c.last_used_at IS NULL OR c.last_used_at < used.at
    ORDER BY c.id FOR NO KEY UPDATE OF c
  ), noted AS (
    UPDATE credentials c SET last_used_at = before.at, last_used_ip = before.ip FROM before WHERE c.id = before.id
  )
  INSERT INTO audit_events (type, user_id, credential_id, ip, details)
  SELECT 'key.used_from_new_ip', user_id, id, ip, jsonb_build_object('before', last_used_ip)
  FROM before WHERE kind = 'personal' AND last_used_ip IS NOT NULL AND last_used_ip IS DISTINCT FROM ip`;
