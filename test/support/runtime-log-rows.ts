import { withClient } from '@gatehouse/persistence';

/** Writes lines of level info into the runtime log, as the service would: `kept line 1`, the oldest, and so on. */
export async function addRuntimeLogs(databaseUrl: string, count: number): Promise<void> {
  await withClient(databaseUrl, (client) =>
    client.query(
      `INSERT INTO proxy_gateway.runtime_logs (time, level, source, context, message, fields)
        SELECT now(), 20, 'api', 'Test', 'kept line ' || n, jsonb_build_object('number', n)
        FROM generate_series(1, $1::integer) AS n ORDER BY n`,
      [count],
    ),
  );
}
