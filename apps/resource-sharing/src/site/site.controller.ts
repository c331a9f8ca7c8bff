import { CurrentActor, Public, Requires, SameOriginGuard, type Actor } from '@gatehouse/auth';
import { Fails } from '@gatehouse/platform';
import { Body, Controller, Get, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { SiteAccountView } from './site-account.view.js';
import { SiteLogin } from './site-login.js';
import { SiteLoginBody } from './site.dto.js';

@ApiTags('site')
@Controller('api/site')
export class SiteController {
  constructor(private readonly login: SiteLogin) {}

  @Public()
  @UseGuards(SameOriginGuard)
  @Post('login')
  @HttpCode(200)
  @ApiOperation({ summary: 'Log in; the answer sets the session cookie', security: [] })
  @ApiEnvelope(SiteAccountView)
  @Fails('LOGIN_FAILED', 'TOTP_REQUIRED', 'LOCKED', 'RATE_LIMITED')
  logIn(
    @Body() body: SiteLoginBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SiteAccountView> {
    return this.login.logIn(body, request, response);
  }

  @Requires('read')
  @Post('logout')
  @HttpCode(200)
  @ApiOperation({ summary: 'End this session' })
  @ApiEnvelope()
  logOut(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    return this.login.logOut(request, response);
  }

  @Get('me')
  @ApiOperation({ summary: 'The account that is logged in' })
  @ApiEnvelope(SiteAccountView)
  me(@CurrentActor() actor: Actor): Promise<SiteAccountView> {
    return this.login.account(actor.userId);
  }
}
