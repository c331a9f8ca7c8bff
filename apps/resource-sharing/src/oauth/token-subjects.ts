import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CredentialLookup } from '../credentials/credential-lookup.js';
import { intersect, type ClientRecord } from '../credentials/credential-records.js';
import { askable, grantScopes } from '../credentials/grant-scopes.js';
import { rowsOf } from '../data/rows-of.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import { ResourceSharingSettings } from '../settings.js';
import { issuerOf, resourceOf } from './issuer.js';

/** RFC 7662 section 2.2. */
export interface Introspection {
  readonly active: boolean;
  readonly [member: string]: unknown;
}

const LIVE_REFRESH_TOKEN = `
  SELECT g.user_id, g.scopes, extract(epoch FROM t.idle_expires_at)::bigint AS expires,
    extract(epoch FROM t.issued_at)::bigint AS issued
  FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id JOIN site_accounts u ON u.id = g.user_id
  WHERE t.hash = $1 AND g.application_id = $2 AND t.consumed_at IS NULL AND t.idle_expires_at > now()
    AND g.revoked_at IS NULL AND u.disabled_at IS NULL`;

interface LiveRefreshToken {
  readonly user_id: number;
  readonly scopes: readonly string[];
  /** Seconds since the epoch. */
  readonly expires: number;
  readonly issued: number;
}

/** The user and scopes of a valid token. Only its own application can ask. */
@Injectable()
export class TokenSubjects {
  private readonly issuer: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly lookup: CredentialLookup,
    private readonly hasher: SecretHasher,
    settings: ResourceSharingSettings,
  ) {
    this.issuer = issuerOf(settings);
  }

  hashOf(kind: 'access' | 'refresh', token: string): Buffer | undefined {
    return this.hasher.parse(kind, token);
  }

  async access(client: ClientRecord, token: string): Promise<Introspection | undefined> {
    const record = await this.lookup.token(token);
    const live = record !== null && record.applicationId === client.id && !record.revoked;
    if (!live || record.expiresAt <= Date.now()) return undefined;
    return {
      active: true,
      token_type: 'Bearer',
      scope: [...intersect(record.scopes, client.allowedScopes), ...record.identityScopes].join(' '),
      exp: Math.floor(record.expiresAt / 1_000),
      ...this.about(client, record.user.id),
    };
  }

  async refresh(client: ClientRecord, token: string): Promise<Introspection | undefined> {
    const hash = this.hashOf('refresh', token);
    if (hash === undefined) return undefined;
    const [row] = await rowsOf<LiveRefreshToken>(this.dataSource, LIVE_REFRESH_TOKEN, [hash, client.id]);
    if (row === undefined) return undefined;
    return {
      active: true,
      scope: intersect(grantScopes(row.scopes), askable(client.allowedScopes)).join(' '),
      exp: row.expires,
      iat: row.issued,
      ...this.about(client, row.user_id),
    };
  }

  private about(client: ClientRecord, userId: number): Record<string, unknown> {
    return { client_id: client.clientId, sub: String(userId), iss: this.issuer, aud: resourceOf(this.issuer) };
  }
}
