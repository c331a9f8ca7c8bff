import { AUDIT_INVARIANTS } from '@gatehouse/audit';
import { noRows, type StoredData } from '@gatehouse/persistence';
import { SERVICE } from './service.js';

/** What backup and restore have to know about this service. */
export const STORED_DATA: StoredData = {
  service: SERVICE.name,
  schemas: [SERVICE.schema],
  database: SERVICE.databaseConfig,
  invariants: [
    ...AUDIT_INVARIANTS,
    noRows(
      'every day of traffic logs has as many rows as were counted',
      '每天的流量日志行数与计数一致',
      `SELECT 1 FROM (SELECT timezone('UTC', ended_at)::date AS day, count(*) AS row_count FROM traffic_logs GROUP BY 1) AS found
         FULL JOIN traffic_log_days AS counted USING (day)
       WHERE coalesce(found.row_count, 0) <> coalesce(counted.row_count, 0)`,
    ),
  ],
};
