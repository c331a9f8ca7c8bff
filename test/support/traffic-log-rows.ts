import { withClient } from '@gatehouse/persistence';

/**
 * Writes connections that ended in the first second of today (UTC), as the kernel would have reported them. One has timed
 * out: the oldest, to `oldest.example`.
 */
export async function addTrafficLogs(databaseUrl: string, count: number): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query('SET search_path = proxy_gateway');
    await client.query(
      `INSERT INTO traffic_logs (started_at, ended_at, client_ip, client_port, inbound, network, host, target_port, chains,
          upload, download, status, error_kind, close_reason, search_text)
        SELECT at, at, '192.0.2.1', 40000, 'mixed', 'tcp', host, 443, '["DIRECT"]', 300, CASE n WHEN 1 THEN 0 ELSE n END,
          CASE n WHEN 1 THEN 'failed' ELSE 'ok' END, CASE n WHEN 1 THEN 'timeout' END,
          CASE n WHEN 1 THEN 'error' ELSE 'remote_closed' END, host
        FROM (SELECT n, date_trunc('day', now(), 'UTC') + n * interval '10 microseconds' AS at,
            CASE n WHEN 1 THEN 'oldest.example' ELSE 'host' || n || '.example' END AS host
          FROM generate_series(1, $1::integer) AS n ORDER BY n) AS rows`,
      [count],
    );
    await client.query(
      `INSERT INTO traffic_log_days VALUES ((now() AT TIME ZONE 'UTC')::date, $1)
        ON CONFLICT (day) DO UPDATE SET row_count = traffic_log_days.row_count + EXCLUDED.row_count`,
      [count],
    );
  });
}
