import { noRows, type Invariant } from '@gatehouse/persistence';

/**
 * What is true for the log in every backup. The hash of each row can only be checked with the service's key, in
 * `AuditStore.verify`.
 */
export const AUDIT_INVARIANTS: readonly Invariant[] = [
  noRows(
    'every row of the audit log continues the row before it',
    '审计日志的每一行都接续上一行',
    `SELECT 1 FROM (SELECT id, prev_hash, lag(id) OVER chain AS former_id, lag(hash) OVER chain AS former_hash
       FROM audit_logs WINDOW chain AS (ORDER BY id)) AS rows
     WHERE former_id IS NOT NULL AND (id <> former_id + 1 OR prev_hash <> former_hash)`,
  ),
  noRows(
    'the audit log begins where its head says',
    '审计日志的起点与链头记录一致',
    `SELECT 1 FROM audit_chain LEFT JOIN audit_logs ON audit_logs.id = first_id
     WHERE last_id >= first_id AND prev_hash IS DISTINCT FROM anchor_hash`,
  ),
  noRows(
    'the audit log ends where its head says',
    '审计日志的终点与链头记录一致',
    `SELECT 1 FROM audit_chain LEFT JOIN audit_logs ON audit_logs.id = last_id
     WHERE (last_id >= first_id AND hash IS DISTINCT FROM last_hash) OR last_id < (SELECT max(id) FROM audit_logs)`,
  ),
  noRows(
    'there is one head of the audit log',
    '审计日志只有一个链头',
    'SELECT 1 FROM audit_chain HAVING count(*) <> 1',
  ),
];
