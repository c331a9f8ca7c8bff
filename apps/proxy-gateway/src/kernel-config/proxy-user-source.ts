import { type SecretBox, SECRET_BOX } from '@gatehouse/persistence';
import type { ProxyUserConfig, UserLimits } from '@gatehouse/proxy-kernel';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { tryOpenPassword } from '../data/proxy-user-password.js';
import { PRESENT_PERIOD, PRESENT_TRAFFIC } from '../data/proxy-user-period.js';
import { KernelMode } from './kernel-mode.js';

interface UserRow {
  id: number;
  name: string;
  password: string;
  expires_at: Date | null;
  allowed_addresses: string[];
  max_connections: number | null;
  rate_limit: number | null;
  traffic_quota: number | null;
  period: Date;
  used: number;
}

export interface ProxyUserRows {
  users: ProxyUserConfig[];
  /** Changes when a quota or its period does, but not with the traffic. */
  quotas: string;
}

const SELECT_USERS = `
  SELECT id, name, password, expires_at, allowed_addresses, max_connections, rate_limit, traffic_quota,
    ${PRESENT_PERIOD} AS period, ${PRESENT_TRAFFIC} AS used
  FROM proxy_users WHERE enabled ORDER BY id`;

/** Reads the users that are rows, for the configuration of kernels. */
@Injectable()
export class ProxyUserSource {
  private readonly logger = new Logger('Kernel');
  private leftOut = '';

  constructor(
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    private readonly mode: KernelMode,
  ) {}

  async load(tx: EntityManager): Promise<ProxyUserRows> {
    const rows: UserRow[] = await tx.query(SELECT_USERS);
    const unreadable: string[] = [];
    const users = rows.flatMap((row): ProxyUserConfig[] => {
      const password = tryOpenPassword(this.box, row);
      if (password === null) unreadable.push(row.name);
      const limits = limitsOf(row);
      // mihomo holds no limits; without them the user could do more than it may.
      if (password === null || (limits && this.mode.get() === 'mihomo')) return [];
      return [{ username: row.name, password, ...(limits && { limits }) }];
    });
    this.report(unreadable);
    const quotas = rows.filter(({ traffic_quota: quota }) => quota !== null);
    return { users, quotas: quotas.map((row) => `${row.id}:${row.traffic_quota}:${row.period.getTime()}`).join() };
  }

  /** Once for each set of names. */
  private report(unreadable: readonly string[]): void {
    const names = unreadable.join(', ');
    if (names !== '' && names !== this.leftOut) {
      this.logger.error(
        `These users of the proxy cannot log in: their passwords were sealed with another key: ${names}`,
      );
    }
    this.leftOut = names;
  }
}

function limitsOf(row: UserRow): UserLimits | null {
  const limits: UserLimits = {
    ...(row.expires_at && { expiresAt: row.expires_at.getTime() }),
    ...(row.allowed_addresses.length > 0 && { allowedAddresses: row.allowed_addresses }),
    ...(row.max_connections !== null && { maxConnections: row.max_connections }),
    ...(row.rate_limit !== null && { rateLimit: row.rate_limit }),
    ...(row.traffic_quota !== null && { trafficLeft: Math.max(0, row.traffic_quota - row.used) }),
  };
  return Object.keys(limits).length > 0 ? limits : null;
}
