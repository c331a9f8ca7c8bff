import { deviceRefusal, SLOWER_SECONDS, type DeviceRefusal } from '@gatehouse/auth';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { intersect, type ClientRecord } from '../credentials/credential-records.js';
import { askable, grantScopes } from '../credentials/grant-scopes.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import { rowsOf } from '../data/rows-of.js';
import type { IssuedTokens } from './issued-tokens.js';
import { OAuthError, type OAuthErrorName } from './oauth-error.js';
import type { OAuthParameters } from './oauth-parameters.js';
import { TokenIssue } from './token-issue.js';

/** RFC 8628 section 3.4. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const FIND = `
  SELECT d.application_id, d.expires_at <= now() AS expired, d.denied_at IS NOT NULL AS denied,
    d.consumed_at IS NOT NULL AS consumed, d.grant_id, g.scopes,
    g.user_id, extract(epoch FROM g.auth_time)::bigint AS auth_time,
    coalesce(d.polled_at > now() - make_interval(secs => d.interval_s), false) AS hasty,
    (g.revoked_at IS NOT NULL OR u.disabled_at IS NOT NULL) AS ended
  FROM device_codes d LEFT JOIN grants g ON g.id = d.grant_id LEFT JOIN site_accounts u ON u.id = g.user_id
  WHERE d.hash = $1 FOR UPDATE OF d`;

interface DeviceRow {
  readonly application_id: number;
  readonly expired: boolean;
  readonly denied: boolean;
  readonly consumed: boolean;
  readonly grant_id: number | null;
  readonly scopes: readonly string[] | null;
  readonly hasty: boolean;
  readonly ended: boolean | null;
  readonly user_id: number | null;
  readonly auth_time: number | null;
}

/** The requests of a device that waits for its user. */
@Injectable()
export class DeviceExchange {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly hasher: SecretHasher,
    private readonly issue: TokenIssue,
  ) {}

  /** @throws authorization_pending, slow_down, expired_token, access_denied, invalid_grant (RFC 8628 section 3.5) */
  async exchange(client: ClientRecord, parameters: OAuthParameters): Promise<IssuedTokens> {
    const hash = this.hasher.parse('device', parameters.required('device_code'));
    const row = hash && (await this.poll(hash, client.id));
    if (hash === undefined || row === undefined) throw new OAuthError('invalid_grant', 'The device code is not known');
    const refusal = refusalOf(row);
    if (refusal !== undefined) throw new OAuthError(...refusal);
    const granted = row.scopes ?? [];
    const allowed = intersect(grantScopes(granted), askable(client.allowedScopes));
    const subject = { userId: row.user_id ?? 0, authTime: row.auth_time, nonce: null };
    const tokens = await this.issue.consume('device_codes', hash, { granted, allowed, subject });
    if (tokens === undefined) throw new OAuthError('invalid_grant', 'The device code was used before');
    return tokens;
  }

  /** Notes the request, so that the next one can be too early. */
  private async poll(hash: Buffer, applicationId: number): Promise<DeviceRow | undefined> {
    return this.unitOfWork.run(async (tx) => {
      const [row] = await rowsOf<DeviceRow>(tx, FIND, [hash]);
      if (row?.application_id !== applicationId) return undefined;
      await tx.query(
        `UPDATE device_codes SET polled_at = now(), interval_s = interval_s + CASE WHEN $2 THEN $3::int ELSE 0 END
         WHERE hash = $1`,
        [hash, row.hasty, SLOWER_SECONDS],
      );
      return row;
    });
  }
}

const REFUSALS: Record<DeviceRefusal, [OAuthErrorName, string]> = {
  used: ['invalid_grant', 'The device code was used before'],
  denied: ['access_denied', 'The user denied the request'],
  expired: ['expired_token', 'The device code has expired'],
  hasty: ['slow_down', 'Wait five seconds longer between requests'],
  pending: ['authorization_pending', 'The user has not decided yet'],
};

function refusalOf(row: DeviceRow): [OAuthErrorName, string] | undefined {
  const refusal = deviceRefusal({ ...row, approved: row.grant_id !== null });
  if (refusal !== null) return REFUSALS[refusal];
  return row.ended === true ? ['invalid_grant', 'The authorization has ended'] : undefined;
}
