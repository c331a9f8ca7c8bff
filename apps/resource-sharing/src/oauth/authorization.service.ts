import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Application } from '../applications/application-rows.js';
import { Applications } from '../applications/applications.service.js';
import { intersect } from '../credentials/credential-records.js';
import { rowsOf } from '../data/rows-of.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import { grantScopes, type GrantScope } from '../credentials/grant-scopes.js';
import { ResourceSharingSettings } from '../settings.js';
import {
  answerAddress,
  answerLocation,
  readAuthorizationRequest,
  refusedAt,
  type AnswerAddress,
  type AuthorizationRequest,
} from './authorization-request.js';
import { isSilent } from './identity-request.js';
import { issuerOf } from './issuer.js';
import { CODE_SECONDS } from './lifetimes.js';
import { assertServes, createGrant, type NewGrant } from './new-grant.js';
import { OAuthError } from './oauth-error.js';
import { OAuthParameters } from './oauth-parameters.js';
import { SignIns } from './sign-ins.js';

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
  readonly scopes?: readonly GrantScope[] | undefined;
  /** The login with which the user decides. */
  readonly sessionId?: number | null | undefined;
  readonly ip?: string | undefined;
}

export interface AuthorizationResult {
  readonly code: string;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly issuer: string;
  readonly scopes: readonly GrantScope[];
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
    private readonly signIns: SignIns,
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

  /** For a visitor without a login. @throws AuthorizationRefused (login_required) for a request that must not ask for one. */
  async refuseIfSilent(source: unknown, options: AuthorizationOptions = {}): Promise<void> {
    const parameters = new OAuthParameters(source);
    if (parameters.optional('prompt') !== 'none') return;
    const { application, address } = await this.destination(parameters);
    refusing(address, () => {
      const { identity } = read(parameters, application, address, options);
      if (isSilent(identity)) throw new OAuthError('login_required', 'Nobody is logged in');
    });
  }

  /**
   * Issues a code for the scopes that the user granted. @throws AuthorizationRefused (access_denied) for a refusal, and the
   * errors of SignIns.check().
   */
  async confirm(
    source: unknown,
    userId: number,
    decision: AuthorizationDecision,
    options: AuthorizationOptions = {},
  ): Promise<AuthorizationResult> {
    const { request } = await this.preview(source, userId, options);
    const { ip, sessionId = null } = decision;
    await this.signIns.check(request, { userId, sessionId });
    const scopes = refusing(request, () => grantedScopes(request, decision));
    const code = this.hasher.create('code');
    await this.store(request, code.hash, { userId, applicationId: request.application.id, scopes, sessionId, ip });
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
    { redirectUri, redirectUriSent, codeChallenge, identity }: AuthorizationRequest,
    codeHash: Buffer,
    grant: NewGrant,
  ): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const grantId = await createGrant(tx, grant);
      await tx.query(
        `INSERT INTO authorization_codes (hash, grant_id, redirect_uri, redirect_uri_sent, code_challenge, nonce, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
        [codeHash, grantId, redirectUri, redirectUriSent, codeChallenge ?? null, identity?.nonce ?? null, CODE_SECONDS],
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

function grantedScopes(request: AuthorizationRequest, decision: AuthorizationDecision): GrantScope[] {
  const scopes = grantScopes(intersect(request.grantableScopes, decision.scopes ?? request.grantableScopes));
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
