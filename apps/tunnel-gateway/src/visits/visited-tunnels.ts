import type { VisitorPolicyConfig, VisitStanding } from '@gatehouse/tunnel-kernel';
import { readTunnelPolicies } from '../common/config-rows.js';
import type { Queries } from '../common/edge-database.js';
import { writeGrants } from '../common/grant-rows.js';
import { isVisitorKey, toPolicy, type OpenSecret } from '../common/policy-mapper.js';

export interface VisitedTunnel {
  id: number;
  clientId: number;
  ownerUserId: number;
  policies: VisitorPolicyConfig[];
}

/** How long a single-use grant waits for its connection. */
const ONCE_MS = 60_000;

/** A tunnel that serves visitors; private ones have keys of their own. */
const TUNNEL = `
  SELECT t.id, t.client_id AS "clientId", c.owner_user_id AS "ownerUserId"
  FROM tunnel_gateway.tunnels t JOIN tunnel_gateway.clients c ON c.id = t.client_id
    JOIN tunnel_gateway.users u ON u.id = c.owner_user_id
  WHERE t.id = $1 AND t.status = 1 AND c.status = 1 AND u.status = 1 AND t.mode NOT IN ('secret', 'p2p')
    AND (c.expire_at IS NULL OR c.expire_at > now())`;

const STANDING = `
  SELECT (extract(epoch FROM g.until) * 1000)::bigint AS until, g.once
  FROM tunnel_gateway_ops.visitor_grants g JOIN jsonb_to_recordset($3::jsonb) AS p (id bigint, version bigint)
    ON p.id = g.policy_id AND p.version = g.policy_version
  WHERE g.tunnel_id = $1 AND g.address = $2 AND g.until > now() ORDER BY g.until DESC LIMIT 1`;

/** What visitors' pages need to know about tunnels. Read for each request, so that changes take effect at once. */
export class VisitedTunnels {
  private readonly queries: Queries;
  private readonly open: OpenSecret;

  constructor(queries: Queries, open: OpenSecret) {
    this.queries = queries;
    this.open = open;
  }

  /** Null: there is no such tunnel, or it does not serve. */
  async find(id: number): Promise<VisitedTunnel | null> {
    const { rows } = await this.queries.query<Omit<VisitedTunnel, 'policies'>>(TUNNEL, [id]);
    const [tunnel] = rows;
    if (!tunnel) return null;
    const policies = await readTunnelPolicies(this.queries, id, tunnel.clientId);
    const usable = policies.filter((policy) => !isVisitorKey(policy));
    return { ...tunnel, policies: usable.map((policy) => toPolicy(policy, this.open)) };
  }

  async standing(
    tunnelId: number,
    address: string,
    policies: readonly VisitorPolicyConfig[],
  ): Promise<VisitStanding | null> {
    const known = JSON.stringify(policies.map(({ id, version }) => ({ id, version })));
    const { rows } = await this.queries.query<VisitStanding>(STANDING, [tunnelId, address, known]);
    return rows[0] ?? null;
  }

  /** False: the policy has changed meanwhile. */
  async letIn(
    tunnelId: number,
    address: string,
    { id: policyId, version: policyVersion }: VisitorPolicyConfig,
    ttlSeconds: number,
  ): Promise<boolean> {
    const once = ttlSeconds === 0;
    const until = Date.now() + (once ? ONCE_MS : ttlSeconds * 1_000);
    return (await writeGrants(this.queries, [{ tunnelId, policyId, address, policyVersion, until, once }])) === 1;
  }
}
