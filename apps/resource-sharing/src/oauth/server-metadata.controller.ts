import { Public } from '@gatehouse/auth';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ResourceSharingSettings } from '../settings.js';
import { issuerOf } from './issuer.js';
import { serverMetadata } from './server-metadata.js';
import { ServerMetadataView } from './server-metadata.view.js';
import { fromAnyOrigin } from './token-answers.js';

/**
 * RFC 8414 section 3 and OpenID Connect Discovery section 4: one document. The second address is the one that clients
 * derive if they treat `/oauth2` as a part of the issuer.
 */
@ApiTags('oauth2')
@Public()
@Controller('.well-known')
export class ServerMetadataController {
  private readonly metadata: ServerMetadataView;

  constructor(settings: ResourceSharingSettings) {
    this.metadata = serverMetadata(issuerOf(settings));
  }

  @Get(['oauth-authorization-server', 'oauth-authorization-server/oauth2', 'openid-configuration'])
  @ApiOperation({
    summary: 'Metadata of the authorization server (RFC 8414, OpenID Connect Discovery)',
    security: [],
  })
  @ApiOkResponse({ type: ServerMetadataView })
  read(@Res() response: Response): void {
    fromAnyOrigin(response).setHeader('Cache-Control', 'public, max-age=300').json(this.metadata);
  }
}
