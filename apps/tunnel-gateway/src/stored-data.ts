import { AUDIT_INVARIANTS } from '@gatehouse/audit';
import { noRows, type StoredData } from '@gatehouse/persistence';
import { MODEL_SCHEMA, SERVICE } from './service.js';

/** Resources of rules and policies, by kind. */
const SUBJECTS = `SELECT 'user' AS kind, id FROM users UNION ALL SELECT 'client', id FROM clients
  UNION ALL SELECT 'tunnel', id FROM tunnels UNION ALL SELECT 'host', id FROM hosts`;

/** What backup and restore need to know about this service. */
export const STORED_DATA: StoredData = {
  service: SERVICE.name,
  schemas: [MODEL_SCHEMA, SERVICE.schema],
  database: SERVICE.databaseConfig,
  invariants: [
    ...AUDIT_INVARIANTS,
    noRows(
      'every address rule is about something that is there',
      '每条 IP 规则对应的对象都存在',
      `SELECT 1 FROM ip_rules r LEFT JOIN (${SUBJECTS}) AS s ON s.kind = r.scope AND s.id = r.resource_id
       WHERE r.scope NOT IN ('global', 'console') AND s.id IS NULL`,
    ),
    noRows(
      'every policy is about something that is there',
      '每条验证策略对应的对象都存在',
      `SELECT 1 FROM auth_policies p LEFT JOIN (${SUBJECTS}) AS s ON s.kind = p.resource_type AND s.id = p.resource_id
       WHERE s.id IS NULL`,
    ),
    noRows(
      'there is one revision of the configuration',
      '配置修订号只有一个',
      'SELECT 1 FROM config_revision HAVING count(*) <> 1',
    ),
  ],
};
