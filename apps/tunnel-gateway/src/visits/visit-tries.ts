import { networkOf } from '@gatehouse/net';
import type { Tries } from '@gatehouse/tunnel-kernel';
import type { Queries } from '../common/edge-database.js';

const MAX_TRIES = 5;

/** $1 policy, $2 client. A new minute begins when the old one is over. */
const TAKE = `
  INSERT INTO tunnel_gateway_ops.visitor_tries AS kept (policy_id, client, count) VALUES ($1, $2, 1)
  ON CONFLICT (policy_id, client) DO UPDATE SET
    count = CASE WHEN kept.since <= now() - interval '1 minute' THEN 1 ELSE kept.count + 1 END,
    since = CASE WHEN kept.since <= now() - interval '1 minute' THEN now() ELSE kept.since END
  RETURNING count`;

const GIVE_BACK = `
  UPDATE tunnel_gateway_ops.visitor_tries SET count = greatest(count - 1, 0) WHERE policy_id = $1 AND client = $2`;

const REMAINING = `
  SELECT greatest(1, ceil(extract(epoch FROM since + interval '1 minute' - now())))::int AS seconds
  FROM tunnel_gateway_ops.visitor_tries WHERE policy_id = $1 AND client = $2`;

/** Guesses at secrets: five per minute for each policy and address, over all replicas. */
export class VisitTries implements Tries {
  private readonly queries: Queries;

  constructor(queries: Queries) {
    this.queries = queries;
  }

  async take(policyId: number, address: string): Promise<boolean> {
    const { rows } = await this.queries.query<{ count: number }>(TAKE, [policyId, networkOf(address)]);
    return (rows[0]?.count ?? Infinity) <= MAX_TRIES;
  }

  async giveBack(policyId: number, address: string): Promise<void> {
    await this.queries.query(GIVE_BACK, [policyId, networkOf(address)]);
  }

  async retryAfter(policyId: number, address: string): Promise<number> {
    const { rows } = await this.queries.query<{ seconds: number }>(REMAINING, [policyId, networkOf(address)]);
    return rows[0]?.seconds ?? 1;
  }
}
