import {
  AuditRules,
  readRow,
  restTarget,
  withoutColumns,
  type AuditActor,
  type AuditTarget,
  type Fields,
  type TableOfResource,
} from '@gatehouse/audit';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { QuotaResource } from '../common/quota-rows.js';

const PREFIX = '/api/v1/';
const NAMES = {
  resources: new Map([
    ['users', 'user'],
    ['clients', 'client'],
    ['tunnels', 'tunnel'],
    ['hosts', 'host'],
    ['domains', 'domain'],
    ['ip-rules', 'ip_rule'],
    ['address-lists', 'address_list'],
    ['auth-policies', 'auth_policy'],
    ['webhooks', 'webhook'],
    ['api-keys', 'api_key'],
    ['sessions', 'session'],
    ['edges', 'edge'],
    ['auth', 'auth'],
    ['transfer', 'transfer'],
  ]),
  withoutMembers: new Set(['auth', 'transfer']),
};

/** Without what is used, which traffic changes. */
function quotaOf(kind: QuotaResource): { table: string; key: string } {
  const table = `(SELECT resource_id, bytes AS traffic_quota, period AS quota_period
    FROM tunnel_gateway_ops.traffic_quotas WHERE resource_type = '${kind}')`;
  return { table, key: 'resource_id' };
}

/** The table of each resource. New columns are audited automatically. */
const TABLES: Readonly<Record<string, TableOfResource>> = {
  user: { table: 'tunnel_gateway.users', key: 'id', options: [quotaOf('user')] },
  client: {
    table: 'tunnel_gateway.clients',
    key: 'id',
    options: [{ table: 'tunnel_gateway_ops.client_options', key: 'client_id' }, quotaOf('client')],
  },
  tunnel: {
    table: 'tunnel_gateway.tunnels',
    key: 'id',
    options: [{ table: 'tunnel_gateway_ops.tunnel_options', key: 'tunnel_id' }, quotaOf('tunnel')],
  },
  host: {
    table: 'tunnel_gateway.hosts',
    key: 'id',
    options: [{ table: 'tunnel_gateway_ops.host_options', key: 'host_id' }],
  },
  domain: { table: 'tunnel_gateway_ops.domains', key: 'id' },
  ip_rule: {
    table: 'tunnel_gateway.ip_rules',
    key: 'id',
    options: [{ table: 'tunnel_gateway_ops.ip_rule_options', key: 'rule_id' }],
  },
  address_list: {
    table: '(SELECT id, name, url, allow_private, interval_minutes FROM tunnel_gateway_ops.address_lists)',
    key: 'id',
  },
  auth_policy: { table: 'tunnel_gateway.auth_policies', key: 'id' },
  webhook: { table: 'tunnel_gateway_ops.webhooks', key: 'id' },
  api_key: { table: 'tunnel_gateway_ops.api_keys', key: 'id' },
};
/** Columns that the service maintains itself, which users do not set. */
const OWN_COLUMNS =
  /^(id|created_at|updated_at|inlet_flow|export_flow|run_status|key_hash|last_used_.*|failing_since|hit_.*)$/;
const LEASE = /^\/api\/v1\/clients\/\d+\/lease$/;
const DEVICES = /^\/api\/v1\/auth\/device(\/token)?$/;
/** The answers to these requests name the user. */
const LOGINS = new Set(['auth.login', 'auth.setup']);

/** Describes this service's requests to the audit log. */
@Injectable()
export class TunnelAuditRules extends AuditRules {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  target(method: string, path: string): AuditTarget | null {
    // Machines that wait ask every few seconds; what they get is recorded where it is made.
    if (DEVICES.test(path)) return null;
    // An agent renews its lease every minute.
    if (LEASE.test(path)) return null;
    return path.startsWith(PREFIX) ? restTarget(method, path.slice(PREFIX.length), NAMES) : null;
  }

  async read({ resourceType, resourceId }: Omit<AuditTarget, 'action'>): Promise<Fields | null> {
    const place = TABLES[resourceType ?? ''];
    if (place === undefined || resourceId === null) return null;
    const found = await readRow(this.dataSource, place, resourceId);
    return found && withoutColumns(found, OWN_COLUMNS);
  }

  loggedIn(action: string, answer: unknown): AuditActor | null {
    if (!LOGINS.has(action)) return null;
    const { id, username } = (answer as { user?: { id?: number; username?: string } } | undefined)?.user ?? {};
    return { type: 'session', id: id ?? null, name: username ?? null };
  }

  /** Options of policies contain names and password hashes of visitors. */
  override hides(path: string): boolean {
    return /(^|\.)(config|secret_hash|challenge)(\.|$)/.test(path);
  }
}
