import { pgPool } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { operationOf } from '../limits/operation.js';
import { callerOf } from '../open-api/caller.js';
import type { Request } from 'express';

const CLOSED = `SELECT EXISTS (SELECT FROM risk_states r, risk_settings s WHERE r.user_id = $1 AND r.tier > 0
  AND current_tier(r, s.clean_time, now()) > coalesce((s.tier_ceilings ->> $2)::integer, 3)) AS closed`;

/** Closes operations that change something to users of a high tier, as the settings say. Reads stay open, and cost nothing. */
@Injectable()
export class TierCeilings implements CanActivate {
  constructor(private readonly dataSource: DataSource) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const userId = callerOf(request)?.userId;
    const operation = userId == null ? null : operationOf(context);
    if (userId == null || operation === null || operation.method === 'GET') return true;
    if (operation.scope !== 'write' && operation.scope !== 'vip') return true;
    return this.assertOpen(userId, operation.name);
  }

  private async assertOpen(userId: number, operation: string): Promise<boolean> {
    const values = [userId, operation];
    const { rows } = await pgPool(this.dataSource).query<{ closed: boolean }>({ name: 'closed', text: CLOSED, values });
    if (rows[0]?.closed === true) throw new AppError('USER_TIER_NOT_ALLOWED');
    return true;
  }
}
