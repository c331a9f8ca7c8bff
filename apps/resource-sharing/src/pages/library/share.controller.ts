import { Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { AppError } from '@gatehouse/platform';
import { PointsLedger } from '../../points/points-ledger.js';
import { UnlockRisk } from '../../risk/unlock-risk.js';
import { ShareOffer } from '../../shares/share-offer.js';
import { Unlocks } from '../../unlocks/unlocks.service.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { refusalOf } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { hasPremium } from '../parts/times.js';
import { shareHeading, sharePage } from './share.view.js';

/** One share: its details, its price, and its link once it is unlocked. */
@PageController('shares')
export class SharePageController {
  constructor(
    private readonly offer: ShareOffer,
    private readonly unlocks: Unlocks,
    private readonly risk: UnlockRisk,
    private readonly ledger: PointsLedger,
  ) {}

  @Get(':slug')
  show(
    @CurrentVisitor() visitor: Member,
    @Param('slug') slug: string,
    @Query() query: object,
    @Res() response: Response,
  ): Promise<void> {
    return this.send(visitor, slug, response, { notice: noticeOf(visitor, query) });
  }

  /** Costs nothing the second time, because the ledger knows what is unlocked. */
  @Post(':slug/unlock')
  async unlock(
    @CurrentVisitor() visitor: Member,
    @Param('slug') slug: string,
    @Res() response: Response,
  ): Promise<void> {
    const { id: userId } = visitor.account;
    const unlocker = {
      ...viewerOf(visitor),
      applicationId: null,
      credentialId: null,
      grantId: null,
      credentialKind: 'site' as const,
    };
    const problem = await refusalOf(async () => {
      await this.risk.watch({ ...unlocker, userId }, response, () => this.unlocks.unlock(unlocker, slug));
    });
    if (problem === undefined) response.redirect(303, done(`/shares/${encodeURIComponent(slug)}`, 'unlocked'));
    else await this.send(visitor, slug, response, { problem });
  }

  private async send(
    visitor: Member,
    slug: string,
    response: Response,
    { notice, problem }: { notice?: string | undefined; problem?: AppError },
  ): Promise<void> {
    const { row, price } = await this.offer.look(slug, viewerOf(visitor));
    const balance = await this.ledger.balance(visitor.account.id);
    const body = sharePage(visitor, { row, price, balance });
    sendPage(response, visitor, { title: shareHeading(visitor, row), body, notice, problem });
  }
}

function viewerOf({ account }: Member): { userId: number; isPremium: boolean } {
  return { userId: account.id, isPremium: hasPremium(account) };
}
