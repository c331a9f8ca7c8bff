import { CookieOnly, Public } from '@gatehouse/auth';
import { Body, Controller, Get, HttpCode, Options, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiExcludeEndpoint,
  ApiOperation,
  ApiQuery,
  ApiSecurity,
  ApiTags,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { CurrentSignIn, CurrentUserId } from '../wire/current-user.js';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { AuthorizationService } from './authorization.service.js';
import { standardMembers, tokenResult } from './issued-tokens.js';
import {
  AuthorizationPreviewView,
  AuthorizationRequestBody,
  AuthorizationResultView,
  RefreshBody,
  RevokeBody,
  TokenBody,
  TokenResultView,
  toPreviewView,
  toResultView,
} from './open-oauth.view.js';
import { NothingView } from './standard-oauth.view.js';
import type { SignedIn } from './sign-ins.js';
import { answerPreflight, fromAnyOrigin, neverStored } from './token-answers.js';
import { TokenStatus } from './token-status.service.js';
import { TokenService } from './token.service.js';

/**
 * The endpoints of the open API's contract. Token answers are the envelope together with the members of RFC 6749, so
 * that clients of either find their fields.
 */
@ApiTags('authorization')
@Controller('api/public/openapi/oauth')
export class OpenOAuthController {
  constructor(
    private readonly authorization: AuthorizationService,
    private readonly tokens: TokenService,
    private readonly status: TokenStatus,
  ) {}

  @CookieOnly()
  @Get('authorize')
  @ApiOperation({ summary: 'Show what an application requests from the logged-in user', security: [{ session: [] }] })
  @ApiQuery({ type: AuthorizationRequestBody })
  @ApiEnvelope(AuthorizationPreviewView)
  async preview(
    @CurrentUserId() userId: number,
    @Query() query: object,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuthorizationPreviewView> {
    neverStored(response);
    return toPreviewView(await this.authorization.preview(query, userId));
  }

  @CookieOnly()
  @Post('authorize')
  @HttpCode(200)
  @ApiOperation({ summary: 'Grant the scopes as the logged-in user', security: [{ session: [] }] })
  @ApiBody({ type: AuthorizationRequestBody })
  @ApiEnvelope(AuthorizationResultView)
  async confirm(
    @CurrentSignIn() { userId, sessionId }: SignedIn,
    @Body() body: object,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuthorizationResultView> {
    neverStored(response);
    const decision = { approved: true, sessionId, ip: request.ip };
    return toResultView(await this.authorization.confirm(body, userId, decision));
  }

  @Public()
  @Post('token')
  @HttpCode(200)
  @ApiOperation({ summary: 'Exchange a code or a refresh token for tokens' })
  @ApiConsumes('application/json', 'application/x-www-form-urlencoded')
  @ApiSecurity('api_key')
  @ApiBody({ type: TokenBody })
  @ApiEnvelope(TokenResultView)
  async token(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.issue(request, response);
  }

  @Public()
  @Post('refresh')
  @HttpCode(200)
  @ApiOperation({ summary: 'Exchange a refresh token for new tokens' })
  @ApiConsumes('application/json', 'application/x-www-form-urlencoded')
  @ApiSecurity('api_key')
  @ApiBody({ type: RefreshBody })
  @ApiEnvelope(TokenResultView)
  async refresh(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.issue(request, response, 'refresh_token');
  }

  @Public()
  @Post('revoke')
  @HttpCode(200)
  @ApiOperation({ summary: 'Revoke a refresh token and its whole authorization' })
  @ApiConsumes('application/json', 'application/x-www-form-urlencoded')
  @ApiSecurity('api_key')
  @ApiBody({ type: RevokeBody })
  @ApiEnvelope(NothingView)
  async revoke(@Req() request: Request, @Res() response: Response): Promise<void> {
    fromAnyOrigin(neverStored(response));
    await this.status.revoke(request);
    response.json({ success: true, code: '200', message: 'success', data: {} });
  }

  @Public()
  @Options(['token', 'refresh', 'revoke'])
  @ApiExcludeEndpoint()
  preflight(@Res() response: Response): void {
    answerPreflight(response, 'POST');
  }

  private async issue(request: Request, response: Response, grantType?: 'refresh_token'): Promise<void> {
    fromAnyOrigin(neverStored(response));
    const tokens = await this.tokens.issue(request, grantType);
    const envelope = { success: true, code: '200', message: 'success', data: tokenResult(tokens) };
    response.json({ ...envelope, ...standardMembers(tokens) });
  }
}
