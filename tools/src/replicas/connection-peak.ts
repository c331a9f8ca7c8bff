import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '@gatehouse/persistence/server';

/** What an ordinary role has of PostgreSQL's default: `max_connections` 100, of which 3 are for superusers. */
export const FREE_CONNECTIONS = 97;
const LOOK_MS = 50;

/** The most connections of clients to a database at once, of all those seen in `durationMs`. The one that looks is not counted. */
export async function connectionPeak(url: string, durationMs: number): Promise<number> {
  const until = performance.now() + durationMs;
  let peak = 0;
  await withClient(url, async (client) => {
    while (performance.now() < until) {
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      );
      peak = Math.max(peak, rows[0]?.count ?? 0);
      await delay(LOOK_MS);
    }
  });
  return peak;
}
