import { Public } from '@gatehouse/auth';
import { Controller, Get, HttpCode, Options, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { IdentityKeys, PUBLISHED_SECONDS } from '../identity/identity-keys.js';
import { StandardErrorFilter } from './standard-error.filter.js';
import { ApiStandard, ApiStandardAnswer } from './standard-oauth.view.js';
import { answerPreflight, fromAnyOrigin, neverStored } from './token-answers.js';
import { UserInfo } from './user-info.service.js';
import { JwksView, UserInfoBody, UserInfoView } from './user-info.view.js';

/** OpenID Connect: who the user of a token is, and with which keys id_tokens are signed. */
@ApiTags('oauth2')
@Public()
@UseFilters(StandardErrorFilter)
@Controller('oauth2')
export class IdentityController {
  constructor(
    private readonly userInfo: UserInfo,
    private readonly keys: IdentityKeys,
  ) {}

  @Get('userinfo')
  @ApiOperation({ summary: 'The user of an access token (OpenID Connect)', security: [{ bearer: [] }] })
  @ApiStandardAnswer(UserInfoView)
  async read(@Req() request: Request, @Res() response: Response): Promise<void> {
    fromAnyOrigin(neverStored(response));
    response.json(await this.userInfo.of(request));
  }

  @Post('userinfo')
  @HttpCode(200)
  @ApiOperation({ summary: 'The user of an access token (OpenID Connect)', security: [{ bearer: [] }] })
  @ApiStandard(UserInfoBody, UserInfoView)
  async post(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.read(request, response);
  }

  @Get('jwks')
  @ApiOperation({ summary: 'Public keys of id_tokens (RFC 7517)', security: [] })
  @ApiOkResponse({ type: JwksView })
  async jwks(@Res() response: Response): Promise<void> {
    const keys = await this.keys.published();
    fromAnyOrigin(response)
      .setHeader('Cache-Control', `public, max-age=${PUBLISHED_SECONDS}`)
      .json({ keys } satisfies JwksView);
  }

  @Options('userinfo')
  @ApiExcludeEndpoint()
  preflight(@Res() response: Response): void {
    answerPreflight(response, 'GET, POST');
  }
}
