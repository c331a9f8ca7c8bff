import { Public } from '@gatehouse/auth';
import { Controller, HttpCode, Options, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { DeviceAuthorizations } from './device-authorization.js';
import { standardMembers } from './issued-tokens.js';
import { StandardErrorFilter } from './standard-error.filter.js';
import {
  ApiStandard,
  DeviceAuthorizationBody,
  DeviceAuthorizationView,
  IntrospectionView,
  NothingView,
  StandardTokenBody,
  StandardTokenView,
  TokenNameBody,
} from './standard-oauth.view.js';
import { answerPreflight, fromAnyOrigin, neverStored } from './token-answers.js';
import { TokenStatus } from './token-status.service.js';
import { TokenService } from './token.service.js';

/** The endpoints of RFC 6749, 7009 and 7662: plain bodies, for standard clients. */
@ApiTags('oauth2')
@Public()
@UseFilters(StandardErrorFilter)
@Controller('oauth2')
export class StandardOAuthController {
  constructor(
    private readonly tokens: TokenService,
    private readonly status: TokenStatus,
    private readonly devices: DeviceAuthorizations,
  ) {}

  @Post('token')
  @HttpCode(200)
  @ApiOperation({ summary: 'Exchange a code or a refresh token for tokens (RFC 6749)', security: [] })
  @ApiStandard(StandardTokenBody, StandardTokenView)
  async token(@Req() request: Request, @Res() response: Response): Promise<void> {
    fromAnyOrigin(neverStored(response));
    const tokens = await this.tokens.issue(request);
    response.json({ ...standardMembers(tokens), refresh_expires_in: tokens.refreshExpiresIn });
  }

  @Post('device_authorization')
  @HttpCode(200)
  @ApiOperation({ summary: 'Begin an authorization on a device without a browser (RFC 8628)', security: [] })
  @ApiStandard(DeviceAuthorizationBody, DeviceAuthorizationView)
  async deviceAuthorization(@Req() request: Request, @Res() response: Response): Promise<void> {
    fromAnyOrigin(neverStored(response));
    const { deviceCode, userCode, verificationUri, expiresIn, interval } = await this.devices.begin(request);
    const view: DeviceAuthorizationView = {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: verificationUri,
      verification_uri_complete: `${verificationUri}?user_code=${userCode}`,
      expires_in: expiresIn,
      interval,
    };
    response.json(view);
  }

  @Post('revoke')
  @HttpCode(200)
  @ApiOperation({ summary: 'Revoke a token (RFC 7009)', security: [] })
  @ApiStandard(TokenNameBody, NothingView)
  async revoke(@Req() request: Request, @Res() response: Response): Promise<void> {
    fromAnyOrigin(neverStored(response));
    await this.status.revoke(request);
    response.json({});
  }

  @Post('introspect')
  @HttpCode(200)
  @ApiOperation({ summary: 'Introspect a token of this client (RFC 7662)', security: [] })
  @ApiStandard(TokenNameBody, IntrospectionView)
  async introspect(@Req() request: Request, @Res() response: Response): Promise<void> {
    neverStored(response);
    response.json(await this.status.introspect(request));
  }

  @Options(['token', 'device_authorization', 'revoke'])
  @ApiExcludeEndpoint()
  preflight(@Res() response: Response): void {
    answerPreflight(response, 'POST');
  }
}
