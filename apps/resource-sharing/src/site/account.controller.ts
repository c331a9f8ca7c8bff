import { CurrentActor, Public, SameOriginGuard, type Actor } from '@gatehouse/auth';
import { acceptedLanguage } from '@gatehouse/i18n';
import { Fails } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req, Res, UseGuards } from '@nestjs/common';
import { IdPipe } from '../wire/path-values.js';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { CurrentUserId } from '../wire/current-user.js';
import { ApiEnvelope, ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { AccountChanges } from './account-changes.js';
import { ProfileChanges } from './profile-changes.js';
import { SiteAccountView, SiteSessionView, toSiteAccountView, toSiteSessionView } from './site-account.view.js';
import { SiteRegistration } from './site-registration.js';
import { SiteSessions } from './site-sessions.js';
import { AccountDeletionBody, PasswordChangeBody, ProfileChangeBody, RegistrationBody } from './site.dto.js';

@ApiTags('site')
@Controller('api/site')
export class AccountController {
  constructor(
    private readonly registration: SiteRegistration,
    private readonly changes: AccountChanges,
    private readonly profiles: ProfileChanges,
    private readonly sessions: SiteSessions,
  ) {}

  @Public()
  @UseGuards(SameOriginGuard)
  @Post('register')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create an account and log in; the answer sets the session cookie', security: [] })
  @ApiEnvelope(SiteAccountView)
  @Fails('FORBIDDEN', 'CONFLICT', 'RATE_LIMITED')
  register(
    @Body() body: RegistrationBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SiteAccountView> {
    return this.registration.register(body, request, response);
  }

  @Patch('me')
  @ApiOperation({ summary: 'Change the profile; null clears a field' })
  @ApiEnvelope(SiteAccountView)
  @Fails('RATE_LIMITED')
  async update(
    @CurrentUserId() userId: number,
    @Body() body: ProfileChangeBody,
    @Req() { headers }: Request,
  ): Promise<SiteAccountView> {
    const language = acceptedLanguage(headers['accept-language']);
    return toSiteAccountView(await this.profiles.update(userId, body, language));
  }

  @Post('me/password')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Change the password; ends other sessions, all authorizations and, unless `revoke_keys` is false, all keys',
  })
  @ApiEnvelope()
  @Fails('LOGIN_FAILED', 'TOTP_REQUIRED', 'LOCKED', 'RATE_LIMITED')
  changePassword(
    @CurrentUserId() userId: number,
    @Body() body: PasswordChangeBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    return this.changes.changePassword(userId, body, request, response);
  }

  @Post('me/delete')
  @HttpCode(200)
  @ApiOperation({ summary: 'Delete the account with its applications, keys, authorizations and shares' })
  @ApiEnvelope()
  @Fails('LOGIN_FAILED', 'TOTP_REQUIRED', 'LOCKED', 'CONFLICT', 'RATE_LIMITED')
  delete(
    @CurrentUserId() userId: number,
    @Body() body: AccountDeletionBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    return this.changes.delete(userId, body, request, response);
  }

  @Get('sessions')
  @ApiOperation({ summary: 'Open sessions of this account' })
  @ApiEnvelopeList(SiteSessionView)
  async listSessions(@CurrentUserId() userId: number, @CurrentActor() actor: Actor): Promise<Enveloped> {
    const found = await this.sessions.list(userId);
    const views = found.map((session) => toSiteSessionView(session, actor.credentialId));
    return new Enveloped(views, { total: views.length });
  }

  @Delete('sessions')
  @ApiOperation({
    summary: 'Log out everywhere; ends this session, all keys and all authorizations',
  })
  @ApiEnvelope()
  async endSessions(
    @CurrentUserId() userId: number,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.sessions.endAll(userId);
    await this.sessions.close(request, response);
  }

  @Delete('sessions/:id')
  @ApiOperation({ summary: 'End one session' })
  @ApiEnvelope()
  @Fails('NOT_FOUND')
  endSession(@CurrentUserId() userId: number, @Param('id', IdPipe) id: number): Promise<void> {
    return this.sessions.end(userId, id);
  }
}
