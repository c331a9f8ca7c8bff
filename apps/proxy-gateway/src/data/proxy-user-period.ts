/** SQL over a row of `proxy_users`: when its present period began. Days and months are those of UTC. */
export const PRESENT_PERIOD = `CASE quota_period
  WHEN 'day' THEN greatest(period_start, date_trunc('day', now(), 'UTC'))
  WHEN 'month' THEN greatest(period_start, date_trunc('month', now(), 'UTC'))
  ELSE period_start END`;

/** SQL: the bytes that were carried in the present period. */
export const PRESENT_TRAFFIC = `CASE WHEN period_start < ${PRESENT_PERIOD} THEN 0 ELSE period_traffic END`;
