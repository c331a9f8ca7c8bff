import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ResourceSharingSettings } from '../settings.js';
import { PointsLedger } from './points-ledger.js';

/** Fees of sharers. */
@Injectable()
export class ShareFees {
  constructor(
    private readonly ledger: PointsLedger,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /** The fee for withdrawing a share, in the same transaction; limited to the balance. Resolves to the amount paid. */
  async chargeDeletion(tx: EntityManager, { shareId, ownerId }: { shareId: number; ownerId: number }): Promise<number> {
    const amount = this.settings.shareDeletionFee;
    if (amount === 0) return 0;
    const from = { userId: ownerId };
    const ref = String(shareId);
    const { moved } = await this.ledger.transfer(
      { kind: 'share_deletion', ref, from, to: 'fees', amount, atMostBalance: true },
      tx,
    );
    return moved;
  }
}
