import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Application } from '../applications/application-rows.js';
import { Applications } from '../applications/applications.service.js';
import { intersect } from '../credentials/credential-records.js';
import { rowsOf } from '../data/rows-of.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import type { OpenScope } from '../credentials/caller.js';
import { ResourceSharingSettings } from '../settings.js';
import {
  answerAddress,
  answerLocation,
  readAuthorizationRequest,
  refusedAt,
  type AnswerAddress,
  type AuthorizationRequest,
} from './authorization-request.js';
import { issuerOf } from './issuer.js';
import { CODE_SECONDS } from './lifetimes.js';
import { assertServes, createGrant } from './new-grant.js';
import { OAuthError } from './oauth-error.js';
import { OAuthParameters } from './oauth-parameters.js';

/** The logged-in user as the authorization page shows them. */
export interface AuthorizingUser {
  readonly id: number;
  readonly username: string;
  readonly nickname: string;
  readonly avatarUrl: string | null;
}

export interface AuthorizationPreview {
  readonly request: AuthorizationRequest;
  readonly user: AuthorizingUser;
  /** Lifetime of the new code, in seconds. */
  readonly expiresIn: number;
}

export interface AuthorizationDecision {
  readonly approved: boolean;
  /** Scopes that the user left selected. Default: all requested ones. */
  readonly scopes?: readonly OpenScope[] | undefined;
  readonly ip?: string | undefined;
}

export interface AuthorizationResult {
  readonly code: string;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly issuer: string;
  readonly scopes: readonly OpenScope[];
  /** Lifetime of the code in seconds. */
  readonly expiresIn: number;
  /** Where to send the browser, with 303. */
  readonly location: string;
}

export interface AuthorizationOptions {
  /** True on `/oauth2/authorize` (RFC 6749); on the other page a missing response_type means `code`. */
  readonly responseTypeRequired?: boolean;
}

/**
 * Authorization of applications by users. `source` is the raw query or body.
 * @throws OAuthError for an error that has to be shown here (unknown application or address), and AuthorizationRefused,
 * which has a `location`, for one that can be sent back.
 */
@Injectable()
export class AuthorizationService {
  private readonly issuer: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly applications: Applications,
    private readonly hasher: SecretHasher,
    settings: ResourceSharingSettings,
  ) {
    this.issuer = issuerOf(settings);
  }

  /** What the user is asked to allow; changes nothing. */
  async preview(source: unknown, userId: number, options: AuthorizationOptions = {}): Promise<AuthorizationPreview> {
    const parameters = new OAuthParameters(source);
    const { application, address } = await this.destination(parameters);
    const user = await this.user(userId);
    const request = refusing(address, () => {
      assertServes(application, user.id);
      return read(parameters, application, address, options);
    });
    return { request, user, expiresIn: CODE_SECONDS };
  }

  /** Issues a code for the scopes that the user granted. @throws AuthorizationRefused (access_denied) for a refusal. */
  async confirm(
    source: unknown,
    userId: number,
    decision: AuthorizationDecision,
    options: AuthorizationOptions = {},
  ): Promise<AuthorizationResult> {
    const { request } = await this.preview(source, userId, options);
    const scopes = refusing(request, () => grantedScopes(request, decision));
    const code = this.hasher.create('code');
    await this.store(request, { userId, scopes, codeHash: code.hash, ip: decision.ip });
    return {
      code: code.text,
      redirectUri: request.redirectUri,
      state: request.state,
      issuer: request.issuer,
      scopes,
      expiresIn: CODE_SECONDS,
      location: answerLocation(request, { code: code.text }),
    };
  }

  /** Nothing is sent to an address before it is known to belong to the application. */
  private async destination(
    parameters: OAuthParameters,
  ): Promise<{ application: Application; address: AnswerAddress }> {
    const application = await this.applications.findByClientId(parameters.required('client_id'));
    if (application === null) throw new OAuthError('invalid_request', 'There is no application with this client_id');
    const { status, ownerDisabled } = application;
    if (status === 'rejected' || status === 'disabled' || ownerDisabled) {
      throw new OAuthError('unauthorized_client', 'This application is disabled');
    }
    return { application, address: answerAddress(parameters, application, this.issuer) };
  }

  private async user(userId: number): Promise<AuthorizingUser> {
    const [user] = await rowsOf<AuthorizingUser>(
      this.dataSource,
      'SELECT id, username, nickname, avatar_url AS "avatarUrl" FROM site_accounts WHERE id = $1 AND disabled_at IS NULL',
      [userId],
    );
    if (user === undefined) throw new OAuthError('access_denied', 'This account cannot authorise applications');
    return user;
  }

  private async store(
    request: AuthorizationRequest,
    {
      userId,
      scopes,
      codeHash,
      ip,
    }: { userId: number; scopes: readonly OpenScope[]; codeHash: Buffer; ip?: string | undefined },
  ): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const grantId = await createGrant(tx, { userId, applicationId: request.application.id, scopes, ip });
      await tx.query(
        `INSERT INTO authorization_codes (hash, grant_id, redirect_uri, redirect_uri_sent, code_challenge, expires_at)
         VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
        [codeHash, grantId, request.redirectUri, request.redirectUriSent, request.codeChallenge ?? null, CODE_SECONDS],
      );
    });
  }
}

function read(
  parameters: OAuthParameters,
  application: Application,
  address: AnswerAddress,
  { responseTypeRequired = false }: AuthorizationOptions,
): AuthorizationRequest {
  return readAuthorizationRequest(parameters, application, address, { responseTypeRequired });
}

function grantedScopes(request: AuthorizationRequest, decision: AuthorizationDecision): OpenScope[] {
  const scopes = intersect(request.grantableScopes, decision.scopes ?? request.grantableScopes);
  if (!decision.approved || scopes.length === 0) throw new OAuthError('access_denied', 'The user denied the request');
  return scopes;
}

function refusing<T>(address: AnswerAddress, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof OAuthError ? refusedAt(address, error) : error;
  }
}
