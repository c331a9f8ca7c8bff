import { Fails } from '@gatehouse/platform';
import { Body, Controller, Get, Header, HttpCode, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { CurrentUserId } from '../wire/current-user.js';
import { OwnFactor } from './own-factor.js';
import { proofOf } from './password-confirmation.js';
import {
  SecondFactorCodesView,
  SecondFactorEnrolmentView,
  SecondFactorView,
  toEnrolmentView,
  toSecondFactorView,
} from './second-factor.view.js';
import { ProofBody, SecondFactorCodeBody } from './site.dto.js';

@ApiTags('site')
@Controller('api/site/me/second-factor')
export class SecondFactorController {
  constructor(private readonly factor: OwnFactor) {}

  @Get()
  @ApiOperation({ summary: 'Whether logins of this account need a code of an authenticator app' })
  @ApiEnvelope(SecondFactorView)
  async read(@CurrentUserId() userId: number): Promise<SecondFactorView> {
    return toSecondFactorView(await this.factor.state(userId));
  }

  @Post()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Start setting up a second factor' })
  @ApiEnvelope(SecondFactorEnrolmentView)
  @Fails('LOGIN_FAILED', 'TOTP_REQUIRED', 'LOCKED', 'CONFLICT', 'RATE_LIMITED')
  async begin(
    @CurrentUserId() userId: number,
    @Body() body: ProofBody,
    @Req() request: Request,
  ): Promise<SecondFactorEnrolmentView> {
    return toEnrolmentView(await this.factor.begin(userId, proofOf(body), request));
  }

  @Post('confirm')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Turn the second factor on with a code; the recovery codes are shown only once' })
  @ApiEnvelope(SecondFactorCodesView)
  @Fails('LOCKED', 'CONFLICT')
  async confirm(
    @CurrentUserId() userId: number,
    @Body() { code }: SecondFactorCodeBody,
  ): Promise<SecondFactorCodesView> {
    return { recovery_codes: await this.factor.confirm(userId, code) };
  }

  @Post('disable')
  @HttpCode(200)
  @ApiOperation({ summary: 'Turn the second factor off' })
  @ApiEnvelope()
  @Fails('LOGIN_FAILED', 'TOTP_REQUIRED', 'LOCKED', 'RATE_LIMITED')
  end(@CurrentUserId() userId: number, @Body() body: ProofBody, @Req() request: Request): Promise<void> {
    return this.factor.end(userId, proofOf(body), request);
  }

  @Post('recovery-codes')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Replace all recovery codes; the new ones are shown only once' })
  @ApiEnvelope(SecondFactorCodesView)
  @Fails('LOGIN_FAILED', 'TOTP_REQUIRED', 'LOCKED', 'CONFLICT', 'RATE_LIMITED')
  async renew(
    @CurrentUserId() userId: number,
    @Body() body: ProofBody,
    @Req() request: Request,
  ): Promise<SecondFactorCodesView> {
    return { recovery_codes: await this.factor.renewRecoveryCodes(userId, proofOf(body), request) };
  }
}
