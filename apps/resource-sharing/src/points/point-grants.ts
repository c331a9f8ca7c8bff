import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { PointsLedger, type TransferResult } from './points-ledger.js';

export const MAX_GRANT = 1_000_000;

export interface PointGrant {
  readonly userId: number;
  /** Whole points up to MAX_GRANT; a negative number deducts points. */
  readonly points: number;
  /** Chosen by the caller, so that a repeated request takes effect once. */
  readonly ref: string;
  /** The administrator. */
  readonly actorId: number;
  readonly note?: string | null;
}

/** Points that administrators add and deduct. */
@Injectable()
export class PointGrants {
  constructor(
    private readonly ledger: PointsLedger,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * @throws INVALID_ARGUMENT for 0, fractions and too many points, INSUFFICIENT_POINTS when more are taken than there
   * are, CONFLICT when the ref was used for another grant.
   */
  async grant(grant: PointGrant, tx?: EntityManager): Promise<TransferResult> {
    if (tx === undefined) return this.unitOfWork.run((own) => this.grant(grant, own));
    const { userId, points, ref, actorId, note } = grant;
    assertGrantable(points);
    const user = { userId };
    const [from, to] = points > 0 ? (['grants', user] as const) : ([user, 'grants'] as const);
    const amount = Math.abs(points);
    const result = await this.ledger.transfer(
      { kind: 'grant', ref, from, to, amount, actorId, note: note ?? null },
      tx,
    );
    if (!result.replayed) {
      await recordEvent(tx, { type: 'points.granted', userId, actorId, details: { points, note: note ?? null } });
    }
    return result;
  }
}

function assertGrantable(points: number): void {
  if (Number.isInteger(points) && points !== 0 && Math.abs(points) <= MAX_GRANT) return;
  const message = `must be a whole number from -${MAX_GRANT} to ${MAX_GRANT}, not 0`;
  throw new AppError('INVALID_ARGUMENT', `points: ${message}`, { details: [{ field: 'points', message }] });
}
