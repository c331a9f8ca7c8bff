import { Public } from '@gatehouse/auth';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ResourceSharingSettings } from '../settings.js';
import { issuerOf } from './issuer.js';
import { serverMetadata } from './server-metadata.js';
import { fromAnyOrigin } from './token-answers.js';

/** RFC 8414 section 3; the second address is what clients derive when they take `/oauth2` for a part of the issuer. */
@ApiTags('oauth2')
@Public()
@Controller('.well-known/oauth-authorization-server')
export class ServerMetadataController {
  private readonly metadata: Readonly<Record<string, unknown>>;

  constructor(settings: ResourceSharingSettings) {
    this.metadata = serverMetadata(issuerOf(settings));
  }

  @Get(['', 'oauth2'])
  @ApiOperation({ summary: 'Addresses and abilities of the authorization server (RFC 8414)', security: [] })
  read(@Res() response: Response): void {
    fromAnyOrigin(response).setHeader('Cache-Control', 'public, max-age=300').json(this.metadata);
  }
}
