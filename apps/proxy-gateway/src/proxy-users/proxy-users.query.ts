import type { LiveUser, ProxyUserPage, ProxyUserStatus, ProxyUserView, QuotaPeriod } from '@gatehouse/contracts';
import { type SecretBox, SECRET_BOX } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { tryOpenPassword } from '../data/proxy-user-password.js';
import { PRESENT_PERIOD, PRESENT_TRAFFIC } from '../data/proxy-user-period.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { likePattern } from '../wire/like-pattern.js';
import type { ProxyUserQuery } from './proxy-user.dto.js';
import { UserUsages } from './user-usage.js';

interface UserRow {
  id: number;
  name: string;
  password: string;
  enabled: boolean;
  status: ProxyUserStatus;
  note: string;
  expires_at: Date | null;
  allowed_addresses: string[];
  max_connections: number | null;
  rate_limit: number | null;
  traffic_quota: number | null;
  quota_period: QuotaPeriod;
  period_start: Date;
  period_traffic: number;
  upload_total: number;
  download_total: number;
  last_used_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** $1: whether mihomo runs, which holds no limits. */
const USERS = `
  SELECT id, name, password, enabled, note, expires_at, allowed_addresses, max_connections, rate_limit, traffic_quota,
    quota_period, ${PRESENT_PERIOD} AS period_start, ${PRESENT_TRAFFIC} AS period_traffic, upload_total, download_total,
    last_used_at, created_at, updated_at,
    CASE WHEN NOT enabled THEN 'disabled'
      WHEN expires_at <= now() THEN 'expired'
      WHEN ${PRESENT_TRAFFIC} >= traffic_quota THEN 'used_up'
      WHEN $1::boolean AND (num_nonnulls(expires_at, max_connections, rate_limit, traffic_quota) > 0
        OR allowed_addresses <> '{}') THEN 'not_in_mihomo'
      ELSE 'active' END AS status
  FROM proxy_users`;

/** Reads users as the API shows them. */
@Injectable()
export class ProxyUsersQuery {
  constructor(
    private readonly dataSource: DataSource,
    private readonly kernel: KernelService,
    private readonly usages: UserUsages,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  async page({ search, status, sort, limit, offset }: ProxyUserQuery, showSecrets: boolean): Promise<ProxyUserPage> {
    const [column, order] = sort.startsWith('-') ? [sort.slice(1), 'DESC'] : [sort, 'ASC'];
    const rows: (UserRow & { list_total: number })[] = await this.dataSource.query(
      `SELECT page.*, counted.list_total FROM (SELECT count(*)::integer AS list_total FROM (${USERS}) AS users WHERE ${MATCHING}) counted
       LEFT JOIN (SELECT * FROM (${USERS}) AS users WHERE ${MATCHING} ORDER BY ${column} ${order} NULLS LAST, id
         LIMIT $4 OFFSET $5) page ON true
       ORDER BY ${column} ${order} NULLS LAST, id`,
      [this.isMihomo(), search ? likePattern(search) : null, status ?? null, limit, offset],
    );
    const total = rows[0]?.list_total ?? 0;
    // Past the end there is one row, with the total alone.
    const found = rows.filter(({ id }) => (id as number | null) !== null);
    return { items: await this.views(found, showSecrets), total, limit, offset };
  }

  /** @throws AppError NOT_FOUND. */
  async one(manager: EntityManager, id: number, showSecrets: boolean): Promise<ProxyUserView> {
    const rows: UserRow[] = await manager.query(`SELECT * FROM (${USERS}) AS users WHERE id = $2`, [
      this.isMihomo(),
      id,
    ]);
    const [view] = await this.views(rows, showSecrets);
    if (!view) throw noSuchUser(id);
    return view;
  }

  private isMihomo(): boolean {
    return this.kernel.program === 'mihomo';
  }

  private async views(rows: readonly UserRow[], showSecrets: boolean): Promise<ProxyUserView[]> {
    const usages = await this.usages.read();
    return rows.map((row) => ({
      ...toView(row, usages),
      password: showSecrets ? tryOpenPassword(this.box, row) : null,
    }));
  }
}

/** `name`, `note` and `status` are columns of `USERS`. */
const MATCHING = `($2::text IS NULL OR name ILIKE $2 OR note ILIKE $2) AND ($3::text IS NULL OR status = $3)`;

export function noSuchUser(id: number): AppError {
  return new AppError('NOT_FOUND', `There is no proxy user ${id}`);
}

function toView(row: UserRow, usages: ReadonlyMap<string, LiveUser> | null): Omit<ProxyUserView, 'password'> {
  const usage = usages && (usages.get(row.name) ?? { connections: 0, upload_speed: 0, download_speed: 0 });
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    status: row.status,
    note: row.note,
    expires_at: row.expires_at?.toISOString() ?? null,
    allowed_addresses: row.allowed_addresses,
    max_connections: row.max_connections,
    rate_limit: row.rate_limit,
    traffic_quota: row.traffic_quota,
    quota_period: row.quota_period,
    period_start: row.period_start.toISOString(),
    period_traffic: row.period_traffic,
    upload_total: row.upload_total,
    download_total: row.download_total,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    connections: usage?.connections ?? null,
    upload_speed: usage?.upload_speed ?? null,
    download_speed: usage?.download_speed ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
