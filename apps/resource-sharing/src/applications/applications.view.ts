import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ApplicationKind, ApplicationStatus } from '../credentials/credential-records.js';
import type { AuthorisedApplication } from '../credentials/grants.service.js';
import { OPEN_SCOPES, type OpenScope } from '../credentials/caller.js';
import { GRANT_SCOPES, type GrantScope } from '../credentials/grant-scopes.js';
import {
  APPLICATION_KINDS,
  APPLICATION_STATUSES,
  AUTH_LEVELS,
  type Application,
  type AuthLevel,
  type CredentialInfo,
  type IssuedCredential,
  type ProposedChange,
} from './application-rows.js';

/** A change that users see only after an administrator has accepted it. */
export class ProposedChangeView {
  @ApiPropertyOptional({ type: String })
  name?: string;
  @ApiPropertyOptional({ type: String })
  description?: string;
  @ApiPropertyOptional({ type: [String] })
  redirect_uris?: readonly string[];
}

/** An application as its owner sees it. */
export class ApplicationView {
  @ApiProperty({ type: String })
  client_id: string;
  @ApiProperty({ type: String })
  name: string;
  @ApiProperty({ type: String })
  description: string;
  @ApiProperty({ enum: APPLICATION_KINDS })
  kind: ApplicationKind;
  @ApiProperty({ enum: AUTH_LEVELS })
  auth_level: AuthLevel;
  @ApiProperty({ enum: APPLICATION_STATUSES })
  status: ApplicationStatus;
  @ApiProperty({ enum: OPEN_SCOPES, isArray: true })
  scopes: readonly OpenScope[];
  @ApiProperty({ type: [String] })
  redirect_uris: readonly string[];
  @ApiProperty({ type: Boolean })
  require_pkce: boolean;
  @ApiProperty({ type: Boolean, description: 'Calls without a user token act for the owner' })
  bound_to_owner: boolean;
  @ApiProperty({ type: [Number] })
  test_user_ids: readonly number[];
  @ApiProperty({ type: [String] })
  ip_allow: readonly string[];
  @ApiProperty({ type: String, nullable: true })
  quota_profile: string | null;
  @ApiProperty({ type: ProposedChangeView, nullable: true, description: 'Change that is waiting for review' })
  proposed: ProposedChangeView | null;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
  @ApiProperty({ type: String, format: 'date-time' })
  updated_at: string;
}

/** A secret or key without its text. */
export class CredentialView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  name: string;
  @ApiProperty({ type: String, description: 'First and last characters, to recognize the key' })
  hint: string;
  @ApiProperty({ enum: OPEN_SCOPES, isArray: true, nullable: true, description: 'null: all scopes of the application' })
  scopes: readonly OpenScope[] | null;
  @ApiProperty({ type: [String] })
  ip_allow: readonly string[];
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expires_at: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_used_at: string | null;
  @ApiProperty({ type: String, nullable: true })
  last_used_ip: string | null;
}

/** A secret or key at the only moment when it can be read. */
export class IssuedCredentialView extends CredentialView {
  @ApiProperty({ type: String, description: 'Shown only in this response' })
  secret: string;
}

export class RegisteredApplicationView extends ApplicationView {
  @ApiProperty({ type: IssuedCredentialView })
  secret: IssuedCredentialView;
}

/** An application that the user has authorized. */
export class GrantView {
  @ApiProperty({ type: String })
  client_id: string;
  @ApiProperty({ type: String })
  app_name: string;
  @ApiProperty({ type: String })
  description: string;
  @ApiProperty({ enum: GRANT_SCOPES, isArray: true })
  scopes: readonly GrantScope[];
  @ApiProperty({ type: [Number], description: 'One for each time that the user authorized the application' })
  grant_ids: readonly number[];
  @ApiProperty({ type: String, format: 'date-time' })
  first_granted_at: string;
  @ApiProperty({ type: String, format: 'date-time' })
  last_granted_at: string;
}

export function toApplicationView(application: Application): ApplicationView {
  return {
    client_id: application.clientId,
    name: application.name,
    description: application.description,
    kind: application.kind,
    auth_level: application.authLevel,
    status: application.status,
    scopes: application.allowedScopes,
    redirect_uris: application.redirectUris,
    require_pkce: application.pkceRequired,
    bound_to_owner: application.boundUserId === application.ownerId,
    test_user_ids: application.testUserIds,
    ip_allow: application.ipAllow,
    quota_profile: application.quotaProfile,
    proposed: application.proposed === null ? null : toProposedChangeView(application.proposed),
    created_at: application.createdAt.toISOString(),
    updated_at: application.updatedAt.toISOString(),
  };
}

function toProposedChangeView({ redirectUris, ...shown }: ProposedChange): ProposedChangeView {
  return { ...shown, ...(redirectUris === undefined ? {} : { redirect_uris: redirectUris }) };
}

export function toCredentialView(info: CredentialInfo): CredentialView {
  return {
    id: info.id,
    name: info.name,
    hint: `${info.prefix}…${info.lastFour}`,
    scopes: info.scopes,
    ip_allow: info.ipAllow,
    created_at: info.createdAt.toISOString(),
    expires_at: info.expiresAt?.toISOString() ?? null,
    last_used_at: info.lastUsedAt?.toISOString() ?? null,
    last_used_ip: info.lastUsedIp,
  };
}

export function toIssuedCredentialView({ secret, info }: IssuedCredential): IssuedCredentialView {
  return Object.assign(toCredentialView(info), { secret });
}

export function toGrantView(application: AuthorisedApplication): GrantView {
  return {
    client_id: application.clientId,
    app_name: application.name,
    description: application.description,
    scopes: application.scopes,
    grant_ids: application.grantIds,
    first_granted_at: application.firstGrantedAt.toISOString(),
    last_granted_at: application.lastGrantedAt.toISOString(),
  };
}
