import { IgnoresUnknownFields } from '@gatehouse/platform';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { AUTH_LEVELS, type AuthLevel } from '../applications/application-rows.js';
import { GRANT_SCOPES, IDENTITY_SCOPES, type GrantScope } from '../credentials/grant-scopes.js';
import { intersect } from '../credentials/credential-records.js';
import type { AuthorizationPreview, AuthorizationResult } from './authorization.service.js';

/** An empty parameter counts as omitted, and unknown ones are ignored (RFC 6749 section 3.1). */
export const PARAMETER = { type: String, minLength: 1, maxLength: 4_000 } as const;

/** Describes what authorize reads; checked in the words of OAuth by AuthorizationService. */
@IgnoresUnknownFields()
export class AuthorizationRequestBody {
  @ApiProperty(PARAMETER)
  client_id: string;
  @ApiProperty(PARAMETER)
  redirect_uri: string;
  @ApiPropertyOptional({ type: String, description: 'Scopes, separated by spaces' })
  scope?: string;
  @ApiPropertyOptional({ type: String })
  state?: string;
  @ApiPropertyOptional({ type: String, description: 'RFC 7636' })
  code_challenge?: string;
  @ApiPropertyOptional({ enum: ['S256'] })
  code_challenge_method?: string;
  @ApiPropertyOptional({ type: String, description: 'OpenID Connect: returned in the id_token' })
  nonce?: string;
}

@IgnoresUnknownFields()
export class TokenBody {
  @ApiProperty({ enum: ['authorization_code', 'refresh_token'] })
  grant_type: string;
  @ApiPropertyOptional({ type: String })
  code?: string;
  @ApiPropertyOptional({ type: String, description: 'The same text as in the authorization request' })
  redirect_uri?: string;
  @ApiPropertyOptional({ type: String, description: 'RFC 7636' })
  code_verifier?: string;
  @ApiPropertyOptional({ type: String })
  refresh_token?: string;
}

@IgnoresUnknownFields()
export class RefreshBody {
  @ApiProperty(PARAMETER)
  refresh_token: string;
}

@IgnoresUnknownFields()
export class RevokeBody {
  @ApiProperty(PARAMETER)
  refresh_token: string;
}

export class AuthorizingUserView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  username: string;
  @ApiProperty({ type: String })
  nickname: string;
  @ApiProperty({ type: String, nullable: true })
  avatar_url: string | null;
}

export class AuthorizationPreviewView {
  @ApiProperty({ type: String })
  client_id: string;
  @ApiProperty({ type: String })
  app_name: string;
  @ApiProperty({ type: String })
  description: string;
  @ApiProperty({ enum: AUTH_LEVELS })
  auth_level: AuthLevel;
  @ApiProperty({ type: String })
  redirect_uri: string;
  @ApiProperty({ enum: GRANT_SCOPES, isArray: true })
  requested_scopes: readonly GrantScope[];
  @ApiProperty({ enum: GRANT_SCOPES, isArray: true })
  allowed_scopes: readonly GrantScope[];
  @ApiProperty({ type: AuthorizingUserView })
  user: AuthorizingUserView;
  @ApiProperty({ type: 'integer', description: 'Seconds for which the code is valid' })
  expires_in: number;
}

export class AuthorizationResultView {
  @ApiProperty({ type: String })
  code: string;
  @ApiProperty({ type: String })
  redirect_uri: string;
  @ApiProperty({ type: 'integer', description: 'Seconds' })
  expires_in: number;
  @ApiPropertyOptional({ type: String })
  state?: string;
  @ApiProperty({ type: String, description: 'RFC 9207' })
  iss: string;
}

export class TokenResultView {
  @ApiProperty({ type: String })
  access_token: string;
  @ApiProperty({ type: String })
  refresh_token: string;
  @ApiProperty({ enum: ['Bearer'] })
  token_type: string;
  @ApiProperty({ type: 'integer', description: 'Seconds' })
  expires_in: number;
  @ApiProperty({ type: 'integer', description: 'Seconds' })
  refresh_expires_in: number;
  @ApiProperty({ type: String })
  scope: string;
  @ApiProperty({ enum: GRANT_SCOPES, isArray: true })
  scopes: readonly GrantScope[];
  @ApiPropertyOptional({ type: String, description: 'OpenID Connect: with the scope `openid`' })
  id_token?: string;
}

export function toPreviewView({ request, user, expiresIn }: AuthorizationPreview): AuthorizationPreviewView {
  const { application } = request;
  return {
    client_id: application.clientId,
    app_name: application.name,
    description: application.description,
    auth_level: application.authLevel,
    redirect_uri: request.redirectUri,
    requested_scopes: request.requestedScopes,
    // Users are only asked who they are where an application asked for it.
    allowed_scopes: [...application.allowedScopes, ...intersect(IDENTITY_SCOPES, request.requestedScopes)],
    user: { id: user.id, username: user.username, nickname: user.nickname, avatar_url: user.avatarUrl },
    expires_in: expiresIn,
  };
}

export function toResultView(result: AuthorizationResult): AuthorizationResultView {
  return {
    code: result.code,
    redirect_uri: result.redirectUri,
    expires_in: result.expiresIn,
    ...(result.state === undefined ? {} : { state: result.state }),
    iss: result.issuer,
  };
}
