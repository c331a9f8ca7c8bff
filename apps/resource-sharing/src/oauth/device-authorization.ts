import { createUserCode, DEVICE_CODE_SECONDS, parseUserCode, UserCodeTries } from '@gatehouse/auth';
import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError, PostgresWindowCounter } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { DataSource, type EntityManager } from 'typeorm';
import type { Application } from '../applications/application-rows.js';
import { Applications } from '../applications/applications.service.js';
import { intersect } from '../credentials/credential-records.js';
import { askable, grantScopes, type GrantScope } from '../credentials/grant-scopes.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import { rowsOf } from '../data/rows-of.js';
import { ResourceSharingSettings } from '../settings.js';
import { ClientAuthentication } from './client-authentication.js';
import { issuerOf } from './issuer.js';
import { DEVICE_POLL_SECONDS } from './lifetimes.js';
import { assertServes, createGrant } from './new-grant.js';
import { OAuthError } from './oauth-error.js';
import { OAuthParameters } from './oauth-parameters.js';
import { readScope } from './scopes.js';

/** RFC 8628 section 3.2. */
export interface DeviceAuthorization {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  /** In seconds. */
  readonly expiresIn: number;
  readonly interval: number;
}

/** What a user is asked to allow. */
export interface DeviceRequest {
  readonly userCode: string;
  readonly application: Application;
  readonly scopes: readonly GrantScope[];
}

export interface DeviceDecision {
  readonly approved: boolean;
  /** Scopes that the user left selected. */
  readonly scopes: readonly GrantScope[];
  /** The login of the user. */
  readonly sessionId: number;
  readonly ip: string | undefined;
}

/** Waiting for its user: neither decided nor expired. */
const WAITING = `SELECT d.scopes, a.client_id AS "clientId" FROM device_codes d JOIN applications a ON a.id = d.application_id
  WHERE d.user_code_hash = $1 AND d.expires_at > now() AND d.grant_id IS NULL AND d.denied_at IS NULL`;

/** Authorizations for devices without a browser (RFC 8628): a device begins, its user decides on another one. */
@Injectable()
export class DeviceAuthorizations {
  private readonly tries: UserCodeTries;
  private readonly page: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly applications: Applications,
    private readonly clients: ClientAuthentication,
    private readonly hasher: SecretHasher,
    settings: ResourceSharingSettings,
  ) {
    this.tries = new UserCodeTries(new PostgresWindowCounter(pgPool(dataSource)));
    this.page = `${issuerOf(settings)}/device`;
  }

  /** @throws OAuthError */
  async begin(request: Request): Promise<DeviceAuthorization> {
    const parameters = new OAuthParameters(request.body);
    const client = await this.clients.authenticate(request, parameters);
    const asked = readScope(parameters.optional('scope')) ?? client.allowedScopes;
    const scopes = intersect(asked, askable(client.allowedScopes));
    if (scopes.length === 0) throw new OAuthError('invalid_scope', 'The application is allowed none of the scopes');
    const device = this.hasher.create('device');
    const userCode = createUserCode();
    await this.dataSource.query(
      `INSERT INTO device_codes (hash, user_code_hash, application_id, scopes, expires_at, interval_s)
       VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5), $6)`,
      [device.hash, this.hasher.hashUserCode(userCode), client.id, scopes, DEVICE_CODE_SECONDS, DEVICE_POLL_SECONDS],
    );
    return {
      deviceCode: device.text,
      userCode,
      verificationUri: this.page,
      expiresIn: DEVICE_CODE_SECONDS,
      interval: DEVICE_POLL_SECONDS,
    };
  }

  /** @throws INVALID_ARGUMENT for an unknown code, RATE_LIMITED after too many, access_denied for an unreviewed application */
  async find(text: string, userId: number, ip: string | undefined): Promise<DeviceRequest> {
    const userCode = parseUserCode(text);
    await this.tries.count(userId, ip);
    const found = userCode === undefined ? undefined : await this.waiting(this.dataSource.manager, userCode);
    const application = found && (await this.applications.findByClientId(found.clientId));
    if (userCode === undefined || found === undefined || application == null) throw unknownCode();
    assertServes(application, userId);
    return { userCode, application, scopes: intersect(grantScopes(found.scopes), askable(application.allowedScopes)) };
  }

  /** @throws the errors of find() */
  async decide(text: string, userId: number, { approved, scopes, ...by }: DeviceDecision): Promise<void> {
    const request = await this.find(text, userId, by.ip);
    const granted = grantScopes(intersect(request.scopes, scopes));
    const hash = this.hasher.hashUserCode(request.userCode);
    await this.unitOfWork.run(async (tx) => {
      // Of two decisions at once, one finds the code undecided.
      const lock = `${WAITING} FOR UPDATE OF d`;
      if ((await rowsOf(tx, lock, [hash])).length === 0) throw unknownCode();
      if (!approved || granted.length === 0) {
        await tx.query('UPDATE device_codes SET denied_at = now() WHERE user_code_hash = $1', [hash]);
        return;
      }
      const grantId = await createGrant(tx, { userId, applicationId: request.application.id, scopes: granted, ...by });
      await tx.query('UPDATE device_codes SET grant_id = $2 WHERE user_code_hash = $1', [hash, grantId]);
    });
  }

  private async waiting(
    tx: EntityManager,
    userCode: string,
  ): Promise<{ scopes: string[]; clientId: string } | undefined> {
    const hash = this.hasher.hashUserCode(userCode);
    const [row] = await rowsOf<{ scopes: string[]; clientId: string }>(tx, WAITING, [hash]);
    return row;
  }
}

function unknownCode(): AppError {
  const message = 'is not known, has expired or was used before';
  return new AppError('INVALID_ARGUMENT', `user_code: ${message}`, { details: [{ field: 'user_code', message }] });
}
