import { Injectable } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { DataSource, type EntityManager } from 'typeorm';

/** A host whose name should have a certificate. */
export interface Wish {
  hostId: number;
  name: string;
  ownerUserId: number;
  failures: number;
  /** It is time, and the limits of orders are not reached. */
  due: boolean;
  /** Its certificate for this name, PEM; null: none. */
  chain: string | null;
}

export interface AcmeState {
  hostId: number;
  nextAt: Date;
  failures: number;
  lastError: string | null;
  /** The authority must not be asked before this time. */
  blockedUntil: Date | null;
  /** Time of the last order. */
  triedAt: Date | null;
}

export interface Failure {
  message: string;
  nextAt: Date;
  blockedUntil: Date | null;
}

/**
 * One host for each name: enabled, with exact names, and `*.name` if $1, without files or an upload, of enabled clients and owners. No
 * certificates are ordered for other names.
 */
const WISHES = `
  SELECT DISTINCT ON (h.host) h.id, h.host AS name, c.owner_user_id
  FROM tunnel_gateway.hosts h
    JOIN tunnel_gateway.clients c ON c.id = h.client_id JOIN tunnel_gateway.users u ON u.id = c.owner_user_id
  WHERE h.status = 1 AND h.auto_https = 1 AND h.cert_path IS NULL
    AND (h.host NOT LIKE '%*%' OR ($1::boolean AND h.host LIKE '*.%'))
    AND coalesce(h.scheme, 'all') <> 'http' AND c.status = 1 AND u.status = 1
    AND NOT EXISTS (
      SELECT 1 FROM tunnel_gateway_ops.certificates o JOIN tunnel_gateway.hosts oh ON oh.id = o.host_id
      WHERE o.source = 'upload' AND oh.host = h.host AND h.host = ANY(o.names))
  ORDER BY h.host, h.id`;

/** Without failures, a missing certificate is due at once: the host may have been renamed. */
const DUE = `(s.host_id IS NULL OR s.next_at <= now() OR (s.failures = 0 AND k.id IS NULL))`;

/**
 * Limits of orders per hour, counted over all processes: for a name, whose hosts may be removed and created again, and
 * for an owner. The back-off belongs to the host and is removed with it; the authority's limits belong to the account,
 * which everybody shares.
 */
export const ORDERS_OF_A_NAME = 10;
export const ORDERS_OF_AN_OWNER = 60;
const LATELY = `SELECT count(*) FROM tunnel_gateway_ops.acme_orders o WHERE o.begun_at > now() - interval '1 hour'`;
const LEFT = `(
  (${LATELY} AND o.name = w.name) < ${ORDERS_OF_A_NAME}
  AND (${LATELY} AND o.owner_user_id = w.owner_user_id) < ${ORDERS_OF_AN_OWNER})`;

const PLANS = `
  SELECT w.id::float8 AS "hostId", w.name, w.owner_user_id::float8 AS "ownerUserId", coalesce(s.failures, 0) AS failures,
    ${DUE} AND ${LEFT} AS due, k.chain
  FROM (${WISHES}) w
    LEFT JOIN tunnel_gateway_ops.acme_states s ON s.host_id = w.id
    LEFT JOIN tunnel_gateway_ops.certificates k ON k.host_id = w.id AND w.name = ANY(k.names)`;

const STATES = `
  SELECT host_id::float8 AS "hostId", next_at AS "nextAt", failures, last_error AS "lastError",
    blocked_until AS "blockedUntil", tried_at AS "triedAt"
  FROM tunnel_gateway_ops.acme_states WHERE host_id = ANY($1)`;

/** Hosts whose authority was not asked recently for its suggested renewal time. */
const UNASKED = `
  UPDATE tunnel_gateway_ops.acme_states SET asked_at = now() WHERE host_id IN (
    SELECT s.host_id FROM tunnel_gateway_ops.acme_states s
      JOIN tunnel_gateway_ops.certificates k ON k.host_id = s.host_id AND k.source = 'acme'
    WHERE s.failures = 0 AND (s.asked_at IS NULL OR s.asked_at < now() - interval '6 hours')
    ORDER BY s.asked_at NULLS FIRST LIMIT $1 FOR UPDATE OF s SKIP LOCKED)
  RETURNING host_id::float8 AS "hostId"`;

/** A certificate from another host of the same name is as good as a new one. */
const ADOPT = `
  UPDATE tunnel_gateway_ops.certificates SET host_id = $1, chain = chain, updated_at = now() WHERE id = (
    SELECT id FROM tunnel_gateway_ops.certificates
    WHERE source = 'acme' AND $2 = ANY(names) AND host_id <> $1 AND not_after > now() + (not_after - not_before) / 3
    ORDER BY not_after DESC LIMIT 1 FOR UPDATE)
  RETURNING not_before AS "notBefore", not_after AS "notAfter"`;

/** Plans when each name gets its certificate. */
@Injectable()
export class AcmeSchedule {
  /** Whether `*.name` can be proven. */
  private readonly wildcards: boolean;

  constructor(
    private readonly dataSource: DataSource,
    settings: TunnelGatewaySettings,
  ) {
    this.wildcards = settings.acmeDnsProvider !== undefined;
  }

  async due(limit: number): Promise<number[]> {
    const sql = `SELECT "hostId" FROM (${PLANS}) p WHERE due ORDER BY failures, "hostId" LIMIT $2`;
    const rows: { hostId: number }[] = await this.dataSource.query(sql, [this.wildcards, limit]);
    return rows.map(({ hostId }) => hostId);
  }

  /** Null for a host that should have no ACME certificate, or whose name another host represents. */
  async wish(hostId: number): Promise<Wish | null> {
    const sql = `SELECT * FROM (${PLANS}) p WHERE "hostId" = $2`;
    const rows: Wish[] = await this.dataSource.query(sql, [this.wildcards, hostId]);
    return rows[0] ?? null;
  }

  /** The host that represents each of these names. */
  async hostsOf(names: readonly string[]): Promise<Map<string, number>> {
    if (names.length === 0) return new Map();
    const rows: { hostId: number; name: string }[] = await this.dataSource.query(
      `SELECT w.id::float8 AS "hostId", w.name FROM (${WISHES}) w WHERE w.name = ANY($2)`,
      [this.wildcards, [...names]],
    );
    return new Map(rows.map(({ hostId, name }) => [name, hostId]));
  }

  async states(hostIds: readonly number[]): Promise<Map<number, AcmeState>> {
    if (hostIds.length === 0) return new Map();
    const rows: AcmeState[] = await this.dataSource.query(STATES, [[...hostIds]]);
    return new Map(rows.map((row) => [row.hostId, row]));
  }

  /** Also marks them as asked. */
  async unasked(limit: number): Promise<number[]> {
    const [rows] = (await this.dataSource.query(UNASKED, [limit])) as [{ hostId: number }[], number];
    return rows.map(({ hostId }) => hostId);
  }

  /** Recorded before the request: an order counts even if the process dies during it. */
  async begin({ name, ownerUserId }: Wish): Promise<void> {
    const sql = 'INSERT INTO tunnel_gateway_ops.acme_orders (name, owner_user_id) VALUES ($1, $2)';
    await this.dataSource.query(sql, [name, ownerUserId]);
  }

  /** Removes orders that no longer count. */
  async clear(): Promise<void> {
    await this.dataSource.query(
      `DELETE FROM tunnel_gateway_ops.acme_orders WHERE begun_at < now() - interval '1 hour'`,
    );
  }

  /** The lifetime of the adopted certificate; null if there was none. */
  async adopt({ hostId, name }: Wish, tx: EntityManager): Promise<{ notBefore: Date; notAfter: Date } | null> {
    // The host's certificate was for another name.
    const own = `DELETE FROM tunnel_gateway_ops.certificates WHERE host_id = $1 AND NOT $2 = ANY(names)`;
    await tx.query(own, [hostId, name]);
    const [rows] = (await tx.query(ADOPT, [hostId, name])) as [{ notBefore: Date; notAfter: Date }[], number];
    return rows[0] ?? null;
  }

  /** Whether the host still exists with this name; locks it until the transaction ends. */
  async holds({ hostId, name }: Wish, tx: EntityManager): Promise<boolean> {
    const sql = 'SELECT 1 FROM tunnel_gateway.hosts WHERE id = $1 AND host = $2 AND status = 1 FOR SHARE';
    return ((await tx.query(sql, [hostId, name])) as unknown[]).length > 0;
  }

  /**
   * The next question about its renewal is later: an authority that wants every new certificate renewed at once must
   * not cause a loop.
   */
  async succeeded(hostId: number, nextAt: Date, tx: EntityManager): Promise<void> {
    const sql = `
      INSERT INTO tunnel_gateway_ops.acme_states (host_id, next_at, tried_at, asked_at) VALUES ($1, $2, now(), now())
      ON CONFLICT (host_id) DO UPDATE SET
        next_at = EXCLUDED.next_at, failures = 0, last_error = NULL, blocked_until = NULL, asked_at = now(), tried_at = now()`;
    await tx.query(sql, [hostId, nextAt]);
  }

  async failed(hostId: number, { message, nextAt, blockedUntil }: Failure, tx: EntityManager): Promise<void> {
    const sql = `
      INSERT INTO tunnel_gateway_ops.acme_states (host_id, next_at, failures, last_error, blocked_until, tried_at)
      SELECT id, $2, 1, $3, $4, now() FROM tunnel_gateway.hosts WHERE id = $1
      ON CONFLICT (host_id) DO UPDATE SET
        next_at = EXCLUDED.next_at, failures = acme_states.failures + 1, last_error = EXCLUDED.last_error,
        blocked_until = EXCLUDED.blocked_until, tried_at = now()`;
    await tx.query(sql, [hostId, nextAt, message, blockedUntil]);
  }

  /** Renews earlier than planned, as the authority or a user wants. */
  async bringForward(hostId: number, nextAt: Date, tx = this.dataSource.manager): Promise<void> {
    const sql = `
      INSERT INTO tunnel_gateway_ops.acme_states (host_id, next_at) VALUES ($1, $2)
      ON CONFLICT (host_id) DO UPDATE SET next_at = EXCLUDED.next_at`;
    await tx.query(sql, [hostId, nextAt]);
  }

  async forget(hostId: number, tx: EntityManager): Promise<void> {
    await tx.query('DELETE FROM tunnel_gateway_ops.acme_states WHERE host_id = $1', [hostId]);
  }
}
