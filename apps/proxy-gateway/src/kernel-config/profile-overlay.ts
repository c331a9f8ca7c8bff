import type { ProfileOverlay } from '../data/profile.entity.js';
import type { SqlRunner } from '../traffic/log-partitions.js';

/** What the active profile says about names and sniffing; null without one. */
export async function readOverlay(sql: SqlRunner): Promise<ProfileOverlay | null> {
  const [row] = (await sql.query(
    'SELECT overlay FROM profiles WHERE subscription_id = (SELECT active_profile FROM outbound_policy)',
  )) as { overlay: ProfileOverlay }[];
  return row?.overlay ?? null;
}
