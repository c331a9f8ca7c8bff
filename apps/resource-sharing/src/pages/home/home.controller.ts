import { Get, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { DemoSeed } from '../../demo/demo-seed.js';
import { sendPage } from '../parts/layout.js';
import { noticeOf } from '../parts/notices.js';
import { Audience, PageController } from '../parts/page-controller.js';
import { CurrentVisitor, type Member, type Visitor } from '../parts/visitor.js';
import { demoPage, homePage } from './home.view.js';

@PageController('', 'everybody')
export class HomeController {
  constructor(private readonly demo: DemoSeed) {}

  @Get()
  async home(@CurrentVisitor() visitor: Visitor, @Query() query: object, @Res() response: Response): Promise<void> {
    const administers = visitor.account?.role === 'administrator';
    const offersDemo = administers && !(await this.demo.isSeeded());
    const body = homePage(visitor, offersDemo);
    sendPage(response, visitor, { title: 'Resource sharing', body, notice: noticeOf(query) });
  }

  @Post('demo')
  @Audience('administrator')
  async seed(@CurrentVisitor() visitor: Member, @Res() response: Response): Promise<void> {
    sendPage(response, visitor, { title: 'Demonstration', body: demoPage(await this.demo.seed()) });
  }
}
