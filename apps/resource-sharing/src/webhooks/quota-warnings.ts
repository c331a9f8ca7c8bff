import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ServiceDays } from '../quota/service-days.js';

/** Parts of the daily quota at which an application is warned, each once a day; a later one takes the place of an earlier. */
const PERCENTS = [80, 100];

const WARN = `
  WITH watched AS (
    SELECT a.id, p.app_per_day AS quota FROM applications a
    JOIN quota_profiles p ON p.name =
      CASE WHEN EXISTS (SELECT FROM quota_profiles q WHERE q.name = a.quota_profile) THEN a.quota_profile ELSE 'default' END
    WHERE p.app_per_day IS NOT NULL AND a.id IN (SELECT w.application_id FROM webhooks w
      WHERE w.status = 1 AND (w.event_types = '{}' OR 'quota.near' = ANY (w.event_types)))
  ), crossed AS (
    SELECT DISTINCT ON (w.id) w.id, w.quota, u.used, t.percent
    FROM watched w JOIN quota_used u ON u.key = 'a:a' || w.id AND u.day = $1::date
    JOIN unnest($2::integer[]) AS t (percent) ON u.used * 100 >= w.quota::bigint * t.percent
    ORDER BY w.id, t.percent DESC
  ), warned AS (
    INSERT INTO quota_warnings (application_id, day, percent) SELECT id, $1::date, percent FROM crossed
    ON CONFLICT DO NOTHING RETURNING application_id, percent
  )
  INSERT INTO application_events (application_id, type, data)
  SELECT c.id, 'quota.near', jsonb_build_object('quota', 'app-day', 'percent', c.percent, 'used', c.used, 'limit', c.quota,
    'day', $1::text, 'resets_at', $3::text)
  FROM warned w JOIN crossed c ON c.id = w.application_id`;

/** Notes which applications have used most of their calls of the day, for those with a webhook that wants to know. */
@Injectable()
export class QuotaWarnings {
  constructor(private readonly days: ServiceDays) {}

  async note(tx: EntityManager): Promise<void> {
    const { date, endsAt } = this.days.at();
    await tx.query(WARN, [date, PERCENTS, new Date(endsAt).toISOString()]);
  }
}
