import { pgPool, withLayer } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Operation } from './operation.js';
import type { Caller } from '../credentials/caller.js';

const CLOSED = `SELECT EXISTS (SELECT FROM risk_states r, risk_settings s WHERE r.user_id = $1 AND r.tier > 0
  AND current_tier(r, s.clean_time, now()) > coalesce((s.tier_ceilings ->> $2)::integer, 3)) AS closed`;

/**
 * Refuses changing operations to users of a high tier, according to the settings. Reads stay allowed and cost nothing.
 */
@Injectable()
export class TierCeilings {
  constructor(private readonly dataSource: DataSource) {}

  /** Undefined if there is nothing to check. Rejects with USER_TIER_NOT_ALLOWED. */
  enter({ userId, applicationId, isTest }: Caller, { method, scope, name }: Operation): Promise<void> | undefined {
    if (userId === null || method === 'GET' || (scope !== 'write' && scope !== 'vip')) return undefined;
    // Test accounts have tiers of their own.
    return isTest
      ? withLayer(String(applicationId), () => this.assertOpen(userId, name))
      : this.assertOpen(userId, name);
  }

  private async assertOpen(userId: number, operation: string): Promise<void> {
    const values = [userId, operation];
    const { rows } = await pgPool(this.dataSource).query<{ closed: boolean }>({ name: 'closed', text: CLOSED, values });
    if (rows[0]?.closed === true) throw new AppError('USER_TIER_NOT_ALLOWED');
  }
}
