import type { GrantChange, GrantKey, VisitorGrant } from '@gatehouse/tunnel-kernel';
import { POLICY_VERSION } from './config-rows.js';
import type { Queries } from './edge-database.js';

export const GRANTS_CHANNEL = 'tunnel_gateway:grants';
/** The limit of an edge. */
const MAX_GRANTS = 100_000;

const READ = `
  SELECT tunnel_id AS "tunnelId", policy_id AS "policyId", address, policy_version AS "policyVersion",
    (extract(epoch FROM until) * 1000)::bigint AS until, once
  FROM tunnel_gateway_ops.visitor_grants WHERE until > now() ORDER BY until DESC LIMIT ${MAX_GRANTS}`;

/** Locks the policy until the grant is stored: a later change of the policy finds the grant, and ends it. */
const WRITE = `
  WITH said AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS s (
      "tunnelId" bigint, "policyId" bigint, address text, "policyVersion" bigint, until bigint, once boolean)
  ), held AS (
    SELECT p.id, ${POLICY_VERSION} AS version FROM tunnel_gateway.auth_policies p
    WHERE p.id IN (SELECT "policyId" FROM said) AND p.enabled = 1 ORDER BY p.id FOR SHARE
  )
  INSERT INTO tunnel_gateway_ops.visitor_grants (tunnel_id, policy_id, address, policy_version, until, once)
  SELECT t.id, held.id, said.address, said."policyVersion", to_timestamp(said.until / 1000.0), said.once
  FROM said JOIN held ON held.id = said."policyId" AND held.version = said."policyVersion"
    JOIN tunnel_gateway.tunnels t ON t.id = said."tunnelId" AND t.status = 1
  ON CONFLICT (tunnel_id, policy_id, address) DO UPDATE SET
    policy_version = EXCLUDED.policy_version, until = EXCLUDED.until, once = EXCLUDED.once, created_at = now()`;

const REMOVE = `
  DELETE FROM tunnel_gateway_ops.visitor_grants g USING jsonb_to_recordset($1::jsonb) AS s (
    "tunnelId" bigint, "policyId" bigint, address text)
  WHERE g.tunnel_id = s."tunnelId" AND g.policy_id = s."policyId" AND g.address = s.address`;

export async function readGrants(queries: Queries): Promise<VisitorGrant[]> {
  return (await queries.query<VisitorGrant>(READ)).rows;
}

/** Returns how many were written: grants of changed policies are left out. */
export async function writeGrants(queries: Queries, grants: readonly VisitorGrant[]): Promise<number> {
  if (grants.length === 0) return 0;
  return (await queries.query(WRITE, [JSON.stringify(grants)])).rowCount ?? 0;
}

export async function removeGrants(queries: Queries, keys: readonly GrantKey[]): Promise<void> {
  if (keys.length > 0) await queries.query(REMOVE, [JSON.stringify(keys)]);
}

/** Parses a notification; null: it has too many changes, so all grants must be read. */
export function parseGrantNews(payload: string): GrantChange[] | null {
  if (payload === 'all') return null;
  const news = JSON.parse(payload) as (VisitorGrant & { ended: boolean })[];
  return news.map(({ ended, ...grant }) => {
    const { tunnelId, policyId, address } = grant;
    return { tunnelId, policyId, address, grant: ended ? null : grant };
  });
}
