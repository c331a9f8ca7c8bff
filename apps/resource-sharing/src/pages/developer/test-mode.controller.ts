import { Body, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Applications } from '../../applications/applications.service.js';
import { TestPointsBody } from '../../applications/test-keys.dto.js';
import { TestKeys } from '../../applications/test-keys.service.js';
import { IdPipe } from '../../wire/path-values.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { OneTimeTexts } from '../parts/one-time-texts.js';
import { PageController } from '../parts/page-controller.js';
import { shownOnce } from '../parts/tables.js';
import { placeOf, testModePage, type TestModeState } from './test-mode.view.js';

type State = TestModeState & { readonly notice?: string | undefined };

@PageController('developer/:client_id/test-mode')
export class TestModePagesController {
  constructor(
    private readonly applications: Applications,
    private readonly keys: TestKeys,
    private readonly oneTime: OneTimeTexts,
  ) {}

  @Get()
  async show(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Query() query: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const key = await this.oneTime.take(visitor, `test key ${clientId}`, request);
    const shown = shownOnce(visitor, visitor.words.text('testMode.newKey'), key);
    await this.send(response, visitor, clientId, { notice: noticeOf(visitor, query), ...shown });
  }

  @Post('keys')
  async create(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Res() response: Response,
  ): Promise<void> {
    let made = '';
    const problem = await refusalOf(async () => {
      made = (await this.keys.create(visitor.account.id, clientId)).secret;
    });
    if (problem !== undefined) return this.send(response, visitor, clientId, { problem });
    await this.oneTime.keep(visitor, `test key ${clientId}`, made);
    response.redirect(303, done(placeOf({ clientId }), 'test-key'));
  }

  @Post('keys/:id/end')
  async revoke(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Param('id', IdPipe) id: number,
    @Res() response: Response,
  ): Promise<void> {
    await this.keys.revoke(visitor.account.id, clientId, id);
    response.redirect(303, done(placeOf({ clientId }), 'test-key-revoked'));
  }

  @Post('points')
  async setPoints(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Body() body: object,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const { points } = validated(TestPointsBody, { points: values.wholeNumber('points') });
      await this.keys.setPoints(visitor.account.id, clientId, points);
    });
    if (problem === undefined) response.redirect(303, done(placeOf({ clientId }), 'test-points'));
    else await this.send(response, visitor, clientId, { problem });
  }

  @Post('empty')
  async empty(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Res() response: Response,
  ): Promise<void> {
    await this.keys.empty(visitor.account.id, clientId);
    response.redirect(303, done(placeOf({ clientId }), 'test-data'));
  }

  private async send(response: Response, visitor: Member, clientId: string, state: State): Promise<void> {
    const application = await this.applications.ofOwner(visitor.account.id, clientId);
    const [keys, shares] = await Promise.all([
      this.keys.list(visitor.account.id, clientId),
      this.keys.shares(visitor.account.id, clientId),
    ]);
    const { notice, problem } = state;
    const title = visitor.words.text('testMode.pageTitle', { name: application.name });
    const body = testModePage(visitor, { application, keys, shares }, state);
    sendPage(response, visitor, { title, body, notice, problem });
  }
}
