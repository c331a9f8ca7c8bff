import type { TransferArchive } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { QuotaResource } from '../../common/quota-rows.js';

export const ARCHIVE_FORMAT = 'gatehouse.tunnel-gateway';
export const ARCHIVE_VERSION = 1;

type Lists = Omit<TransferArchive, 'format' | 'version' | 'exported_at' | 'hashes'>;

const TIMES = ['created_at', 'updated_at'];
/** What is used is a counter, and stays here. */
const QUOTA = ['coalesce(q.bytes, 0) AS traffic_quota', `coalesce(q.period, 'total') AS quota_period`];

function quotaOf(kind: QuotaResource): string {
  return `LEFT JOIN tunnel_gateway_ops.traffic_quotas q ON q.resource_type = '${kind}' AND q.resource_id = t.id`;
}

/** Columns of each list; `$hash` marks hashes. */
const LISTS: Record<keyof Lists, { from: string; columns: readonly string[]; hashes: readonly string[] }> = {
  users: {
    from: `tunnel_gateway.users t ${quotaOf('user')}`,
    columns: ['username', 'role', 'status', ...QUOTA],
    hashes: ['password_hash'],
  },
  clients: {
    from: `tunnel_gateway.clients t LEFT JOIN tunnel_gateway_ops.client_options o ON o.client_id = t.id ${quotaOf('client')}`,
    columns: [
      'name',
      'owner_user_id',
      'coalesce(rate_limit, 0) AS rate_limit',
      'coalesce(max_conn, 0) AS max_conn',
      'expire_at',
      'status',
      'coalesce(o.encrypt, true) AS encrypt',
      ...QUOTA,
    ],
    hashes: ['verify_key'],
  },
  tunnels: {
    from: `tunnel_gateway.tunnels t LEFT JOIN tunnel_gateway_ops.tunnel_options o ON o.tunnel_id = t.id ${quotaOf('tunnel')}`,
    columns: [
      'client_id',
      'name',
      'mode',
      `coalesce(listen_ip, '0.0.0.0') AS listen_ip`,
      'listen_port',
      'coalesce(o.port_count, 1) AS port_count',
      'target_addr',
      'status',
      'coalesce(o.proxy_protocol, 0) AS proxy_protocol',
      'coalesce(o.accept_proxy_protocol, false) AS accept_proxy_protocol',
      'coalesce(o.rate_limit, 0) AS rate_limit',
      ...QUOTA,
    ],
    hashes: [],
  },
  hosts: {
    from: 'tunnel_gateway.hosts t LEFT JOIN tunnel_gateway_ops.host_options o ON o.host_id = t.id',
    columns: [
      'client_id',
      'host',
      `coalesce(location, '/') AS location`,
      `coalesce(scheme, 'all') AS scheme`,
      'target_addr',
      'cert_path',
      'key_path',
      'coalesce(auto_https, 0) AS auto_https',
      'status',
      'coalesce(o.strict_path, false) AS strict_path',
      'o.rewrite_host',
      'o.rewrite_path',
      'coalesce(o.sticky, false) AS sticky',
      'coalesce(o.max_body_bytes, 0) AS max_body_bytes',
      'o.error_page',
      'coalesce(o.compress, false) AS compress',
      'o.redirect',
      'o.health_check',
      `coalesce(o.request_headers, '{}') AS request_headers`,
      `coalesce(o.response_headers, '{}') AS response_headers`,
      `coalesce(o.record_requests, 'off') AS record_requests`,
    ],
    hashes: [],
  },
  address_lists: {
    // What they have is fetched again.
    from: 'tunnel_gateway_ops.address_lists t',
    columns: ['name', 'url', 'allow_private', 'interval_minutes'],
    hashes: [],
  },
  ip_rules: {
    from: 'tunnel_gateway.ip_rules t LEFT JOIN tunnel_gateway_ops.ip_rule_options o ON o.rule_id = t.id',
    columns: [
      'scope',
      'coalesce(resource_id, 0) AS resource_id',
      'type',
      'pattern',
      'pattern_kind',
      'o.paths',
      'o.methods',
      'coalesce(priority, 0) AS priority',
      'remark',
    ],
    hashes: [],
  },
  auth_policies: {
    from: 'tunnel_gateway.auth_policies t LEFT JOIN tunnel_gateway_ops.policy_options o ON o.policy_id = t.id',
    columns: [
      'resource_type',
      'resource_id',
      'type',
      'callback_url',
      'enabled',
      'coalesce(ttl_seconds, 7200) AS ttl_seconds',
      `coalesce(o.copy_headers, '[]') AS copy_headers`,
      'coalesce(o.allow_private, false) AS allow_private',
      'o.oauth',
      '(o.sealed_secret IS NOT NULL) AS has_secret',
    ],
    hashes: ['password'],
  },
  domains: {
    from: 'tunnel_gateway_ops.domains t',
    columns: ['user_id', 'name', 'method', 'verified_at'],
    hashes: [],
  },
  webhooks: {
    from: 'tunnel_gateway_ops.webhooks t',
    columns: ['owner_user_id', 'name', 'url', 'event_types', 'status'],
    hashes: [],
  },
};

/** Exports everything that users have configured; not counters, sessions or events. */
@Injectable()
export class Exporter {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** One consistent snapshot. `withHashes`: includes hashes of passwords and keys; other secrets are never exported. */
  async run(withHashes: boolean): Promise<TransferArchive> {
    const lists = await this.unitOfWork.run((tx) => read(tx, withHashes), { isolation: 'REPEATABLE READ' });
    return {
      format: ARCHIVE_FORMAT,
      version: ARCHIVE_VERSION,
      exported_at: new Date().toISOString(),
      hashes: withHashes,
      ...lists,
    };
  }
}

async function read(tx: EntityManager, withHashes: boolean): Promise<Lists> {
  const lists: Record<string, unknown> = {};
  for (const [name, { from, columns, hashes }] of Object.entries(LISTS)) {
    const wanted = ['t.id', ...columns, ...(withHashes ? hashes : []), ...TIMES.map((column) => `t.${column}`)];
    const rows = (await tx.query(`SELECT ${wanted.join(', ')} FROM ${from} ORDER BY t.id`)) as Record<
      string,
      unknown
    >[];
    lists[name] = rows.map(withoutEmptyHash);
  }
  return lists as unknown as Lists;
}

/** Policies without a password have no hash. */
function withoutEmptyHash({ password, ...row }: Record<string, unknown>): Record<string, unknown> {
  return typeof password === 'string' ? { ...row, password } : row;
}
