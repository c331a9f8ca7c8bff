import type { Actor } from '@gatehouse/auth';
import type { TunnelWarning } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { spareTunnels } from '../data/ip-rule.entity.js';
import { seesAll } from '../data/owned-rows.js';
import { readerText } from '../reader-text.js';

/** Limit per kind of warning. */
const OF_A_KIND = 20;

interface Found {
  code: TunnelWarning['code'];
  kind: string;
  id: number;
  name: string;
  detail: string | null;
  since: Date | null;
}

/** `$1`: the owner whose rows are checked; null: all owners. Each part lists the most urgent first. */
const OWN = '($1::bigint IS NULL OR c.owner_user_id = $1)';
/** The port, or the range, of a tunnel without a name. */
const TUNNEL_NAME = `coalesce(t.name, t.mode || ' ' || t.listen_port || coalesce((
  SELECT '-' || t.listen_port + o.port_count - 1 FROM tunnel_gateway_ops.tunnel_options o
  WHERE o.tunnel_id = t.id AND o.port_count > 1), ''))`;
const PARTS = [
  // For hosts with certificate files: the recorded warning, until the file is replaced.
  `SELECT CASE WHEN e.not_after < now() THEN 'certificate_expired' ELSE 'certificate_expiring' END AS code,
    'host' AS kind, h.id, h.host AS name, to_char(e.not_after AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS detail,
    CASE WHEN e.not_after < now() THEN e.not_after END AS since
  FROM (
    SELECT host_id, not_after FROM tunnel_gateway_ops.certificates
    WHERE not_after < now() + least((not_after - not_before) / 4, interval '14 days')
    UNION ALL
    SELECT w.host_id, w.not_after FROM tunnel_gateway_ops.certificate_warnings w
    JOIN tunnel_gateway.hosts f ON f.id = w.host_id AND f.cert_path IS NOT NULL
  ) e
  JOIN tunnel_gateway.hosts h ON h.id = e.host_id JOIN tunnel_gateway.clients c ON c.id = h.client_id
  WHERE h.status = 1 AND ${OWN} ORDER BY e.not_after, h.id`,
  `SELECT 'certificate_failed' AS code, 'host' AS kind, h.id, h.host AS name, s.last_error AS detail, s.tried_at AS since
  FROM tunnel_gateway_ops.acme_states s JOIN tunnel_gateway.hosts h ON h.id = s.host_id
  JOIN tunnel_gateway.clients c ON c.id = h.client_id
  WHERE s.failures > 0 AND h.status = 1 AND h.auto_https = 1 AND ${OWN} ORDER BY s.failures DESC, h.id`,
  `SELECT CASE WHEN c.expire_at <= now() THEN 'client_expired' ELSE 'client_expiring' END AS code,
    'client' AS kind, c.id, c.name, to_char(c.expire_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS detail,
    CASE WHEN c.expire_at <= now() THEN c.expire_at END AS since
  FROM tunnel_gateway.clients c
  WHERE c.status = 1 AND c.expire_at BETWEEN now() - interval '30 days' AND now() + interval '7 days' AND ${OWN}
  ORDER BY c.expire_at, c.id`,
  `SELECT 'tunnel_failed' AS code, 'tunnel' AS kind, t.id, ${TUNNEL_NAME} AS name,
    e.data ->> 'error' AS detail, e.created_at AS since
  FROM tunnel_gateway.tunnels t JOIN tunnel_gateway.clients c ON c.id = t.client_id
  LEFT JOIN LATERAL (
    SELECT data, created_at FROM tunnel_gateway_ops.events
    WHERE resource_type = 'tunnel' AND resource_id = t.id AND type = 'tunnel.failed' ORDER BY id DESC LIMIT 1
  ) e ON true
  WHERE t.status = 1 AND t.run_status = 3 AND ${OWN} ORDER BY t.id`,
  // No authentication, and no address rule that could refuse anybody.
  `SELECT 'tunnel_open_proxy' AS code, 'tunnel' AS kind, t.id, ${TUNNEL_NAME} AS name,
    t.mode AS detail, NULL AS since
  FROM tunnel_gateway.tunnels t JOIN tunnel_gateway.clients c ON c.id = t.client_id
  WHERE t.status = 1 AND t.mode IN ('http_proxy', 'socks5', 'mix_proxy') AND t.listen_ip !~ '^(127\\.|::1$)' AND ${OWN}
    AND NOT EXISTS (SELECT FROM tunnel_gateway.auth_policies p WHERE p.enabled = 1 AND
      ((p.resource_type = 'tunnel' AND p.resource_id = t.id) OR (p.resource_type = 'client' AND p.resource_id = c.id)))
    AND NOT EXISTS (SELECT FROM tunnel_gateway.ip_rules r WHERE NOT ${spareTunnels('r')} AND (r.scope = 'global'
      OR (r.scope = 'tunnel' AND r.resource_id = t.id) OR (r.scope = 'client' AND r.resource_id = c.id)))
  ORDER BY t.id`,
  `SELECT 'webhook_failing' AS code, 'webhook' AS kind, c.id, c.name, NULL AS detail, c.failing_since AS since
  FROM tunnel_gateway_ops.webhooks c WHERE c.failing_since IS NOT NULL AND ${OWN} ORDER BY c.failing_since, c.id`,
];
const WARNINGS = PARTS.map((part) => `(${part} LIMIT ${OF_A_KIND})`).join('\nUNION ALL\n');

const SAID: Partial<Record<TunnelWarning['code'], (found: Found) => string>> = {
  certificate_expired: ({ name, detail }) => `the certificate of ${name} ended on ${detail}`,
  certificate_expiring: ({ name, detail }) => `the certificate of ${name} ends on ${detail}`,
  certificate_failed: ({ name, detail }) => `no certificate was issued for ${name}: ${detail ?? 'no reason was given'}`,
  client_expired: ({ name, detail }) => `the time of the client ${name} was over on ${detail}`,
  client_expiring: ({ name, detail }) => `the time of the client ${name} is over on ${detail}`,
  tunnel_failed: ({ name, detail }) => `the tunnel ${name} is not served: ${detail ?? 'its port cannot be bound'}`,
  tunnel_open_proxy: ({ name, detail }) =>
    `everybody may use the tunnel ${name} (${detail}) to reach the network of its agent: add a policy or address rules`,
  webhook_failing: ({ name }) => `the webhook ${name} takes no messages`,
};

/** Problems of users' resources. Those of the gateway itself are reported elsewhere. */
@Injectable()
export class Warnings {
  constructor(private readonly dataSource: DataSource) {}

  async list(actor: Actor): Promise<TunnelWarning[]> {
    const owner = seesAll(actor) ? null : (actor.userId ?? 0);
    const found = (await this.dataSource.query(WARNINGS, [owner])) as Found[];
    return found.map((each) => ({
      code: each.code,
      message: readerText(SAID[each.code]?.(each) ?? each.name),
      resource: { kind: each.kind, id: Number(each.id) },
      since: each.since?.toISOString() ?? null,
    }));
  }
}
