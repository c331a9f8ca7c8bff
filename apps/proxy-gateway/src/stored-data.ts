import { noRows, type StoredData } from '@gatehouse/persistence';
import { databaseConfig } from './database.js';
import { SERVICE_NAME } from './service-version.js';

/** What backup and restore have to know about this service. */
export const STORED_DATA: StoredData = {
  service: SERVICE_NAME,
  schemas: ['proxy_gateway'],
  database: (databaseUrl, applicationName) => databaseConfig({ databaseUrl }, applicationName),
  invariants: [
    noRows(
      'every row of the audit log continues the row before it',
      `SELECT 1 FROM (SELECT id, prev_hash, lag(id) OVER chain AS former_id, lag(hash) OVER chain AS former_hash
         FROM audit_logs WINDOW chain AS (ORDER BY id)) AS rows
       WHERE former_id IS NOT NULL AND (id <> former_id + 1 OR prev_hash <> former_hash)`,
    ),
    noRows(
      'the audit log ends where its head says',
      `SELECT 1 FROM audit_chain LEFT JOIN audit_logs ON audit_logs.id = last_id
       WHERE last_id >= first_id AND hash IS DISTINCT FROM last_hash`,
    ),
    noRows(
      'every day of traffic logs has as many rows as were counted',
      `SELECT 1 FROM (SELECT timezone('UTC', ended_at)::date AS day, count(*) AS row_count FROM traffic_logs GROUP BY 1) AS found
         FULL JOIN traffic_log_days AS counted USING (day)
       WHERE coalesce(found.row_count, 0) <> coalesce(counted.row_count, 0)`,
    ),
  ],
};
