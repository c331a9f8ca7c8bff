import { QUOTA_PERIODS, type QuotaPeriod } from '@gatehouse/contracts';
import { IsIn } from 'class-validator';
import { Omittable } from '../wire/omittable.js';
import { Whole } from '../wire/text-fields.js';

/** Fields of everything that may have a traffic quota. */
export class QuotaFields {
  /** Bytes in both directions together, until which its visitors are served; 0: no quota. */
  @Omittable()
  @Whole(0, Number.MAX_SAFE_INTEGER)
  traffic_quota?: number;

  /** When the count begins again: never, each day, or on the first of each month, at 00:00 UTC. */
  @Omittable()
  @IsIn(QUOTA_PERIODS)
  quota_period?: QuotaPeriod;

  /** 0: the count begins again now. */
  @Omittable()
  @Whole(0, 0)
  period_traffic?: number;
}
