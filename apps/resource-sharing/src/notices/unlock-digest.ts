import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { rowsOf } from '../data/rows-of.js';
import { ResourceSharingSettings } from '../settings.js';

/** Days without a digest that are made up for, after the service was down. */
const MAX_DAYS = 7;

/** The day is over a little after midnight: unlocks that began before it may still be committed. */
const DAYS_DUE = `
  WITH today AS (SELECT timezone($1, $3::timestamptz - interval '5 minutes')::date AS day)
  SELECT due::date::text AS day FROM today, generate_series(
    greatest(coalesce((SELECT max(d.day) + 1 FROM unlock_digests d), today.day - 1), today.day - $2::integer),
    today.day - 1, interval '1 day') AS due
  ORDER BY due`;

/** Disabled and deleted accounts get none. */
const EVENTS = `
  INSERT INTO audit_events (type, user_id, details)
  SELECT 'share.unlock_digest', s.owner_id,
    jsonb_build_object('day', $1::date, 'shares', count(DISTINCT u.share_id), 'points', sum(u.points))
  FROM unlocks u JOIN shares s ON s.id = u.share_id JOIN site_accounts a ON a.id = s.owner_id AND a.disabled_at IS NULL
  WHERE u.created_at >= timezone($2, $1::date::timestamp) AND u.created_at < timezone($2, ($1::date + 1)::timestamp)
  GROUP BY s.owner_id`;

/** Once a day, owners learn how many of their shares others unlocked: from an event that becomes a notice. */
@Injectable()
export class UnlockDigest {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /** Digests of the days that are over and have none. Each day has its digests once, however many processes run this. */
  async run(now: Date = new Date(), signal?: AbortSignal): Promise<void> {
    const { timeZone } = this.settings;
    const due = await this.unitOfWork.run((tx) => rowsOf<{ day: string }>(tx, DAYS_DUE, [timeZone, MAX_DAYS, now]));
    for (const { day } of due) {
      if (signal?.aborted) return;
      await this.unitOfWork.run(async (tx) => {
        const claim = 'INSERT INTO unlock_digests (day) VALUES ($1) ON CONFLICT DO NOTHING RETURNING day';
        const claimed = await rowsOf(tx, claim, [day]);
        if (claimed.length > 0) await tx.query(EVENTS, [day, timeZone]);
      });
    }
  }
}
