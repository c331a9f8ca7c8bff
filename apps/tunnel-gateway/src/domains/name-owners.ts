import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { TunnelGatewaySettings } from '../settings.js';
import { isNobodys, isPublicSuffix, withoutWildcard } from './domain-name.js';

/** A name belongs to the nearest domain above it. */
const NEAREST = `
  SELECT user_id::float8 AS "userId" FROM tunnel_gateway_ops.domains
  WHERE verified_at IS NOT NULL AND right('.' || $1, length(name) + 1) = '.' || name
  ORDER BY length(name) DESC LIMIT 1`;
const ELSES_BELOW = `
  SELECT 1 FROM tunnel_gateway_ops.domains
  WHERE verified_at IS NOT NULL AND user_id <> $2 AND right(name, length($1) + 1) = '.' || $1 LIMIT 1`;
/**
 * A user keeps a name with an existing host: it was assigned before, or the host is older than the ownership of names.
 */
const HAS_HOST = `
  SELECT 1 FROM tunnel_gateway.hosts h JOIN tunnel_gateway.clients c ON c.id = h.client_id
  WHERE c.owner_user_id = $2 AND h.host = $1 LIMIT 1`;

/** Decides which names users may have hosts of. */
@Injectable()
export class NameOwners {
  constructor(private readonly settings: TunnelGatewaySettings) {}

  /**
   * Answers whether a domain of the user covers the name; a name that they only have a host of already is let through as
   * well, and with TUNNEL_HOST_NAMES=any, or below TUNNEL_PUBLISH_DOMAIN, one that nobody has. Asked under the lock of
   * names.
   * @param host as `parseHostPattern` has it
   * @throws AppError FORBIDDEN for a name that is not theirs, HOST_CONFLICT for one of another user
   */
  async require(host: string, userId: number, tx: EntityManager): Promise<boolean> {
    if (await exists(HAS_HOST, [host, userId], tx)) return false;
    const name = withoutWildcard(host);
    if (isNobodys(name) || isPublicSuffix(name)) {
      throw new AppError('FORBIDDEN', `host: ${host} cannot belong to one user; only administrators can use it`);
    }
    const [nearest] = (await tx.query(NEAREST, [name])) as { userId: number }[];
    const isElses = nearest === undefined ? false : nearest.userId !== userId;
    if (isElses || (host !== name && (await exists(ELSES_BELOW, [name, userId], tx)))) {
      throw new AppError('HOST_CONFLICT', `host: ${host} belongs to another user`);
    }
    if (nearest === undefined && this.settings.hostNames === 'owned' && !this.isOpenToAll(host)) {
      throw new AppError(
        'FORBIDDEN',
        `host: ${host} is not yours yet. Prove it with POST /api/v1/domains, or have an administrator assign it to you`,
      );
    }
    return nearest !== undefined;
  }

  /** A name, and no wildcard, directly below the operator's domain for what agents publish. */
  private isOpenToAll(host: string): boolean {
    const { publishDomain } = this.settings;
    const dot = host.indexOf('.');
    return publishDomain !== undefined && !host.startsWith('*') && dot > 0 && host.slice(dot + 1) === publishDomain;
  }
}

async function exists(sql: string, values: unknown[], tx: EntityManager): Promise<boolean> {
  return ((await tx.query(sql, values)) as unknown[]).length > 0;
}
