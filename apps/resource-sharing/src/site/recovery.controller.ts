import { Public, SameOriginGuard } from '@gatehouse/auth';
import { acceptedLanguage } from '@gatehouse/i18n';
import { Fails } from '@gatehouse/platform';
import { Body, Controller, Get, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { CurrentUserId } from '../wire/current-user.js';
import { AccountExport } from './account-export.js';
import { AccountExportView } from './account-export.view.js';
import { EmailVerification } from './email-verification.js';
import { PasswordReset } from './password-reset.js';
import { EmailVerificationBody, PasswordResetBody, PasswordResetRequestBody } from './site.dto.js';

@ApiTags('site')
@Controller('api/site')
export class RecoveryController {
  constructor(
    private readonly verification: EmailVerification,
    private readonly reset: PasswordReset,
    private readonly exports: AccountExport,
  ) {}

  @Get('me/export')
  @ApiOperation({ summary: 'Everything that the service has about this account' })
  @ApiEnvelope(AccountExportView)
  @Fails('RATE_LIMITED')
  exportAll(@CurrentUserId() userId: number, @Req() request: Request): Promise<AccountExportView> {
    return this.exports.of(userId, request.ip);
  }

  @Post('me/email-verification')
  @HttpCode(200)
  @ApiOperation({ summary: 'Send another link that verifies the email address' })
  @ApiEnvelope()
  @Fails('CONFLICT', 'RATE_LIMITED')
  repeat(@CurrentUserId() userId: number, @Req() request: Request): Promise<void> {
    return this.verification.repeat(userId, languageOf(request));
  }

  @Public()
  @UseGuards(SameOriginGuard)
  @Post('email-verification')
  @HttpCode(200)
  @ApiOperation({ summary: 'Verify an email address with the link from a mail', security: [] })
  @ApiEnvelope()
  verify(@Body() { token }: EmailVerificationBody): Promise<void> {
    return this.verification.confirm(token);
  }

  @Public()
  @UseGuards(SameOriginGuard)
  @Post('password-reset')
  @HttpCode(200)
  @ApiOperation({ summary: 'Send a link for a new password, if the account exists', security: [] })
  @ApiEnvelope()
  @Fails('RATE_LIMITED')
  request(@Body() { account }: PasswordResetRequestBody, @Req() request: Request): Promise<void> {
    return this.reset.request(account, request.ip ?? '', languageOf(request));
  }

  @Public()
  @UseGuards(SameOriginGuard)
  @Post('password-reset/complete')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Set a new password with the link from a mail; ends everything that acts for the account',
    security: [],
  })
  @ApiEnvelope()
  complete(@Body() { token, new_password: password }: PasswordResetBody, @Req() request: Request): Promise<void> {
    return this.reset.complete(token, password, request.ip);
  }
}

/** English for clients that ask for no language. */
function languageOf({ headers }: Request): 'en' | 'zh-CN' {
  return acceptedLanguage(headers['accept-language']);
}
