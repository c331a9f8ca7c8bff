import { AUDIT_INVARIANTS } from '@gatehouse/audit';
import { noRows, type StoredData } from '@gatehouse/persistence';
import { TEST_SCHEMAS } from './data/test-layer.js';
import { SERVICE } from './service.js';

/** What backup and restore have to know about this service. */
export const STORED_DATA: StoredData = {
  service: SERVICE.name,
  schemas: [SERVICE.schema, ...TEST_SCHEMAS],
  database: SERVICE.databaseConfig,
  invariants: [
    ...AUDIT_INVARIANTS,
    noRows(
      'every transaction of the ledger has two entries that add up to nothing',
      '账本的每笔交易都有两条分录，合计为零',
      `SELECT t.id FROM ledger_transactions t LEFT JOIN ledger_entries e ON e.transaction_id = t.id
       GROUP BY t.id HAVING count(e.amount) <> 2 OR sum(e.amount) <> 0`,
    ),
    noRows(
      'every entry continues the one before it',
      '每条分录都接续上一条',
      `SELECT 1 FROM (SELECT *, lag(balance_after, 1, 0::bigint) OVER account AS balance_before,
           lag(account_version, 1, 0::bigint) OVER account AS version_before
         FROM ledger_entries WHERE user_id IS NOT NULL
         WINDOW account AS (PARTITION BY user_id ORDER BY account_version)) AS entries
       WHERE balance_after <> balance_before + amount OR account_version <> version_before + 1`,
    ),
    noRows(
      'every account has the balance of its last entry',
      '每个账户的余额与其最后一条分录一致',
      `SELECT 1 FROM ledger_accounts a LEFT JOIN (SELECT user_id, max(account_version) AS version, sum(amount) AS balance
           FROM ledger_entries GROUP BY user_id) AS e USING (user_id)
       WHERE a.version <> coalesce(e.version, 0) OR a.balance <> coalesce(e.balance, 0)`,
    ),
    noRows(
      'every user has an account of points',
      '每个用户都有积分账户',
      'SELECT 1 FROM site_accounts s LEFT JOIN ledger_accounts a ON a.user_id = s.id WHERE a.user_id IS NULL',
    ),
  ],
};
