import { Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DemoSeed } from '../../demo/demo-seed.js';
import { demoLines } from '../../demo/demo-lines.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { OneTimeTexts } from '../parts/one-time-texts.js';
import { Audience, PageController } from '../parts/page-controller.js';
import { CurrentVisitor, type Member, type Visitor } from '../../wire/visitor.js';
import { demoPage, homePage } from './home.view.js';
import { MemberHome } from './member-home.js';

/** Name of the page for its one-time text. */
const DEMO_PAGE = 'demo';

@PageController('', 'everybody')
export class HomeController {
  constructor(
    private readonly demo: DemoSeed,
    private readonly oneTime: OneTimeTexts,
    private readonly memberHome: MemberHome,
  ) {}

  @Get()
  async home(@CurrentVisitor() visitor: Visitor, @Query() query: object, @Res() response: Response): Promise<void> {
    const administers = visitor.account?.role === 'administrator';
    const offersDemo = administers && !(await this.demo.isSeeded());
    const own = isMember(visitor) ? await this.memberHome.page(visitor) : undefined;
    const body = homePage(visitor, own, offersDemo);
    sendPage(response, visitor, { title: visitor.words.text('home.title'), body, notice: noticeOf(visitor, query) });
  }

  @Post('demo')
  @Audience('administrator')
  async seed(@CurrentVisitor() visitor: Member, @Res() response: Response): Promise<void> {
    const lines = demoLines(await this.demo.seed());
    await this.oneTime.keep(visitor, DEMO_PAGE, lines.join('\n'));
    response.redirect(303, done('/demo', 'demo'));
  }

  @Get('demo')
  @Audience('administrator')
  async showDemo(
    @CurrentVisitor() visitor: Member,
    @Query() query: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const body = demoPage(visitor, await this.oneTime.take(visitor, DEMO_PAGE, request));
    sendPage(response, visitor, {
      title: visitor.words.text('home.demoTitle'),
      body,
      notice: noticeOf(visitor, query),
    });
  }
}

function isMember(visitor: Visitor): visitor is Member {
  return visitor.account !== null && visitor.sessionId !== null;
}
