import { checkInvariants, type StoredData } from '@gatehouse/persistence';
import { withClient } from '@gatehouse/persistence/server';
import type { ReplicaClient } from './replica-client.js';
import type { Entrances, ServiceName } from './replica-set.js';

/** A query that finds what breaks it, a row for each. */
interface Rule {
  name: string;
  sql: string;
}

const AUDIT_TABLES: Record<ServiceName, string> = {
  'proxy-gateway': 'proxy_gateway.audit_logs',
  'resource-sharing': 'resource_sharing.audit_logs',
  'tunnel-gateway': 'tunnel_gateway_ops.audit_logs',
};

/** Beside what every backup is held against (each service's `stored-data.ts`). */
const RULES: Record<ServiceName, readonly Rule[]> = {
  'proxy-gateway': [
    {
      name: 'no node is without a source',
      sql: `SELECT n.id FROM proxy_gateway.nodes n LEFT JOIN proxy_gateway.node_sources s ON s.node_id = n.id
        WHERE n.source = 'subscription' AND s.node_id IS NULL`,
    },
    {
      name: 'no node is there twice',
      sql: 'SELECT fingerprint FROM proxy_gateway.nodes GROUP BY fingerprint HAVING count(*) > 1',
    },
    {
      name: 'no two rules have one place',
      sql: "SELECT priority FROM proxy_gateway.rules WHERE source = 'manual' GROUP BY priority HAVING count(*) > 1",
    },
  ],
  'resource-sharing': [
    { name: 'nobody is below zero', sql: 'SELECT user_id FROM resource_sharing.ledger_accounts WHERE balance < 0' },
    {
      name: 'nothing is paid for twice',
      sql: `SELECT ref FROM resource_sharing.ledger_transactions WHERE kind = 'unlock' GROUP BY ref HAVING count(*) > 1`,
    },
    {
      name: 'no unlock is without its payment, and no payment without its unlock',
      sql: `SELECT 1 FROM (SELECT user_id || ':' || share_id AS ref FROM resource_sharing.unlocks WHERE via = 'points') u
        FULL JOIN (SELECT ref FROM resource_sharing.ledger_transactions WHERE kind = 'unlock') t USING (ref)
        WHERE u.ref IS NULL OR t.ref IS NULL`,
    },
    {
      name: 'calls are counted alike by day and by endpoint',
      sql: `SELECT 1 FROM (SELECT day, application_id, credential_id, user_id, sum(total_calls) AS n
          FROM resource_sharing.usage_endpoint_daily GROUP BY 1, 2, 3, 4) e
        FULL JOIN resource_sharing.usage_daily d USING (day, application_id, credential_id, user_id)
        WHERE d.total_calls IS DISTINCT FROM e.n`,
    },
    {
      name: 'no access token is outside its day',
      sql: 'SELECT 1 FROM resource_sharing.access_tokens_default',
    },
  ],
  'tunnel-gateway': [
    {
      name: 'no port is given twice',
      sql: `SELECT listen_ip, listen_port FROM tunnel_gateway.tunnels WHERE listen_port > 0 AND mode = 'tcp'
        GROUP BY 1, 2 HAVING count(*) > 1`,
    },
  ],
};

/** What does not hold of the data of a set, in words; empty when all is sound. */
export async function brokenData(set: Entrances, stored: readonly StoredData[]): Promise<string[]> {
  const { databaseUrl, services } = set.options;
  const ours = stored.filter(({ service }) => services.some((name) => name === service));
  const known = await checkInvariants(databaseUrl, ours);
  const broken = known.filter((found) => found.broken > 0).map(({ service, name }) => `${service}: not so: ${name.en}`);
  await withClient(databaseUrl, async (client) => {
    for (const service of services) {
      for (const { name, sql } of [...RULES[service], recordedOnce(service)]) {
        const { rowCount } = await client.query(sql);
        if (rowCount !== 0) broken.push(`${service}: not so (${rowCount}): ${name}`);
      }
    }
  });
  return broken;
}

/** Every request of a sweep has an id of its own. */
function recordedOnce(service: ServiceName): Rule {
  return {
    name: 'the audit log has a request once',
    sql: `SELECT request_id FROM ${AUDIT_TABLES[service]} WHERE request_id IS NOT NULL
      GROUP BY request_id, action HAVING count(*) > 1`,
  };
}

/** Asks every replica of a service whether the chain of its audit log is whole. */
export async function brokenChain(administrator: ReplicaClient, path: string): Promise<string[]> {
  const broken: string[] = [];
  for (const [at, { service }] of administrator.replicas.entries()) {
    const { status, body } = await administrator.ask(at, { method: 'GET', path: `${path}/audit-logs/verify` });
    const report = (body['data'] ?? body) as { ok?: boolean };
    if (status !== 200 || report.ok !== true) broken.push(`${service}: the audit log does not verify (${status})`);
  }
  return broken;
}
