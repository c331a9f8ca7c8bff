import { LastUseWriter } from '@gatehouse/auth';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';

/**
 * A personal key that is used from a new address causes an event for its user. Nothing is noted of users who have deleted their
 * accounts meanwhile, whose keys stay as rows without personal data.
 */
const STATEMENT = `
  WITH used AS (SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS used (id, at, ip)),
  before AS (
    SELECT c.id, c.user_id, c.kind, c.last_used_ip, used.at, used.ip
    FROM credentials c JOIN used ON used.id = c.id
    WHERE (c.last_used_at IS NULL OR c.last_used_at < used.at)
      AND NOT (c.revoked_at IS NOT NULL AND c.name = 'deleted')
    ORDER BY c.id FOR NO KEY UPDATE OF c
  ), noted AS (
    UPDATE credentials c SET last_used_at = before.at, last_used_ip = before.ip FROM before WHERE c.id = before.id
  )
  INSERT INTO audit_events (type, user_id, credential_id, ip, details)
  SELECT 'key.used_from_new_ip', user_id, id, ip, jsonb_build_object('before', last_used_ip)
  FROM before WHERE kind = 'personal' AND last_used_ip IS NOT NULL AND last_used_ip IS DISTINCT FROM ip`;

/** The last uses of credentials. */
@Injectable()
export class LastUse extends LastUseWriter implements BeforeApplicationShutdown {
  constructor(dataSource: DataSource, logger: JsonLogger) {
    super(dataSource, logger, STATEMENT);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }
}
