import type { AppError } from '@gatehouse/platform';
import { Body, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { visibleName } from '../../applications/visible-name.js';
import { grantScopes } from '../../credentials/grant-scopes.js';
import { DeviceAuthorizations, type DeviceRequest } from '../../oauth/device-authorization.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues, refusalOf } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { deviceConsent, deviceForm } from './device.view.js';

/** Where people enter the code that a device shows, and decide (RFC 8628 section 3.3). */
@PageController('device')
export class DeviceController {
  constructor(private readonly devices: DeviceAuthorizations) {}

  /** A code in the address is only filled in: its sender may not be the one who sees it. */
  @Get()
  show(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): void {
    sendForm(response, visitor, {
      userCode: new FormValues(query).text('user_code'),
      notice: noticeOf(visitor, query),
    });
  }

  @Post()
  async enter(
    @CurrentVisitor() visitor: Member,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const userCode = new FormValues(body).text('user_code');
    const { found, problem } = await this.find(userCode, visitor, request);
    if (found === undefined) sendForm(response, visitor, { userCode, problem });
    else response.redirect(303, `/device/confirm?user_code=${found.userCode}`);
  }

  @Get('confirm')
  async ask(
    @CurrentVisitor() visitor: Member,
    @Query() query: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const userCode = new FormValues(query).text('user_code');
    const { found, problem } = await this.find(userCode, visitor, request);
    if (found === undefined) return sendForm(response, visitor, { userCode, problem });
    const application = visibleName(found.application.name);
    return sendPage(response, visitor, {
      title: visitor.words.text('device.confirmTitle', { application }),
      body: deviceConsent(visitor, found),
      secretive: true,
      narrow: true,
    });
  }

  @Post('confirm')
  async answer(
    @CurrentVisitor() visitor: Member,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const userCode = values.text('user_code');
    const approved = values.text('decision') === 'allow';
    const problem = await refusalOf(() =>
      this.devices.decide(userCode, visitor.account.id, {
        approved,
        scopes: grantScopes(values.list('scope')),
        sessionId: visitor.sessionId,
        ip: request.ip,
      }),
    );
    if (problem !== undefined) sendForm(response, visitor, { userCode, problem });
    else response.redirect(303, done('/device', approved ? 'device-allowed' : 'device-denied'));
  }

  private async find(
    userCode: string,
    visitor: Member,
    request: Request,
  ): Promise<{ found?: DeviceRequest; problem?: AppError | undefined }> {
    let found: DeviceRequest | undefined;
    const problem = await refusalOf(async () => {
      found = await this.devices.find(userCode, visitor.account.id, request.ip);
    });
    return found === undefined ? { problem } : { found };
  }
}

function sendForm(
  response: Response,
  visitor: Member,
  { userCode, notice, problem }: { userCode: string; notice?: string | undefined; problem?: AppError | undefined },
): void {
  sendPage(
    response,
    { ...visitor, path: '/device' },
    {
      title: visitor.words.text('device.title'),
      body: deviceForm(visitor, userCode, problem),
      notice,
      problem,
      narrow: true,
    },
  );
}
