import { Body, Get, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CheckIns } from '../../check-in/check-ins.service.js';
import { PointsLedger } from '../../points/points-ledger.js';
import { PointsStory } from '../../points/points-story.js';
import { WeeklyFreeUnlocks } from '../../weekly-free/weekly-free.service.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { hasPremium } from '../parts/times.js';
import { pointsPage } from './points.view.js';

/** A member's points: income, expenses and the daily check-in. */
@PageController('points')
export class PointsController {
  constructor(
    private readonly ledger: PointsLedger,
    private readonly story: PointsStory,
    private readonly checkIns: CheckIns,
    private readonly weeklyFree: WeeklyFreeUnlocks,
  ) {}

  @Get()
  async show(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const { id } = visitor.account;
    const before = new FormValues(query).wholeNumber('before');
    const [balance, story, checkIn, weekly] = await Promise.all([
      this.ledger.balance(id),
      this.story.of(id, before === undefined || Number.isNaN(before) ? {} : { before }),
      this.checkIns.stateOf(id),
      this.weeklyFree.of(id),
    ]);
    const body = pointsPage(visitor, { balance, story, checkIn, weekly, isFirstPage: before === undefined });
    sendPage(response, visitor, { title: visitor.words.text('points.title'), body, notice: noticeOf(visitor, query) });
  }

  /** Has no effect the second time on a day. */
  @Post('check-in')
  async checkIn(@CurrentVisitor() visitor: Member, @Body() body: object, @Res() response: Response): Promise<void> {
    const mode = new FormValues(body).isChecked('is_gambler') ? 'gambler' : 'normal';
    const { account } = visitor;
    await this.checkIns.checkIn({ userId: account.id, isPremium: hasPremium(account) }, mode);
    response.redirect(303, done('/points', 'checked-in'));
  }
}
