import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { GrantScope } from '../credentials/grant-scopes.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import type { IssuedTokens, TokenSubject } from './issued-tokens.js';
import { ACCESS_SECONDS, REFRESH_ABSOLUTE_SECONDS, REFRESH_IDLE_SECONDS } from './lifetimes.js';

/** Tables of codes that are exchanged for tokens. */
export type CodeTable = 'authorization_codes' | 'device_codes';

/** Of several concurrent exchanges, one finds the code unconsumed; the same statement creates its tokens. */
const consume = (table: CodeTable): string => `
  WITH consumed AS (
    UPDATE ${table} SET consumed_at = now()
    WHERE hash = $1 AND consumed_at IS NULL AND expires_at > now() AND grant_id IS NOT NULL RETURNING grant_id
  ), exchanged AS (
    UPDATE grants g SET exchanged_at = now() FROM consumed WHERE g.id = consumed.grant_id
  ), access AS (
    INSERT INTO access_tokens (hash, grant_id, scopes, expires_at)
    SELECT $2, grant_id, $3::text[], now() + make_interval(secs => $4) FROM consumed
  ), refresh AS (
    INSERT INTO refresh_tokens (hash, grant_id, generation, idle_expires_at, absolute_expires_at)
    SELECT $5, grant_id, 0, now() + make_interval(secs => $6), now() + make_interval(secs => $7) FROM consumed
  )
  SELECT grant_id FROM consumed`;

const STATEMENTS: Readonly<Record<CodeTable, { name: string; text: string }>> = {
  authorization_codes: { name: 'consume_authorization_code', text: consume('authorization_codes') },
  device_codes: { name: 'consume_device_code', text: consume('device_codes') },
};

/** Issues the first tokens of a grant, for a code that works once. */
@Injectable()
export class TokenIssue {
  constructor(
    private readonly dataSource: DataSource,
    private readonly hasher: SecretHasher,
  ) {}

  /** `granted`: scopes of the grant; `allowed`: those that the application still has. Undefined if the code is used up. */
  async consume(
    table: CodeTable,
    hash: Buffer,
    {
      granted,
      allowed,
      subject,
    }: { granted: readonly string[]; allowed: readonly GrantScope[]; subject: TokenSubject },
  ): Promise<IssuedTokens | undefined> {
    const access = this.hasher.create('access');
    const refresh = this.hasher.create('refresh');
    const { rows } = await pgPool(this.dataSource).query({
      ...STATEMENTS[table],
      values: [
        hash,
        access.hash,
        granted,
        ACCESS_SECONDS,
        refresh.hash,
        REFRESH_IDLE_SECONDS,
        REFRESH_ABSOLUTE_SECONDS,
      ],
    });
    if (rows.length === 0) return undefined;
    return {
      accessToken: access.text,
      refreshToken: refresh.text,
      expiresIn: ACCESS_SECONDS,
      refreshExpiresIn: REFRESH_IDLE_SECONDS,
      scopes: allowed,
      subject,
    };
  }
}
