import { Public } from '@gatehouse/auth';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ResourceSharingSettings } from '../settings.js';
import { DEVICE_GRANT } from './device-exchange.js';
import { issuerOf } from './issuer.js';
import { ServerMetadataView } from './server-metadata.view.js';
import { fromAnyOrigin } from './token-answers.js';
import { OPEN_SCOPES } from '../credentials/caller.js';

/**
 * RFC 8414 section 3; the second address is the one that clients derive if they treat `/oauth2` as a part of the
 * issuer.
 */
@ApiTags('oauth2')
@Public()
@Controller('.well-known/oauth-authorization-server')
export class ServerMetadataController {
  private readonly metadata: ServerMetadataView;

  constructor(settings: ResourceSharingSettings) {
    this.metadata = serverMetadata(issuerOf(settings));
  }

  @Get(['', 'oauth2'])
  @ApiOperation({ summary: 'Metadata of the authorization server (RFC 8414)', security: [] })
  @ApiOkResponse({ type: ServerMetadataView })
  read(@Res() response: Response): void {
    fromAnyOrigin(response).setHeader('Cache-Control', 'public, max-age=300').json(this.metadata);
  }
}

/** RFC 8414 section 2, RFC 8628 section 4, RFC 9207 section 3. */
function serverMetadata(issuer: string): ServerMetadataView {
  const methods = ['client_secret_basic', 'client_secret_post', 'none'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth2/authorize`,
    token_endpoint: `${issuer}/oauth2/token`,
    device_authorization_endpoint: `${issuer}/oauth2/device_authorization`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    introspection_endpoint: `${issuer}/oauth2/introspect`,
    scopes_supported: OPEN_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  };
}
