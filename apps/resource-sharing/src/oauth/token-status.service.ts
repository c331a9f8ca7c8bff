import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { ClientRecord } from '../credentials/credential-records.js';
import { Grants } from '../credentials/grants.service.js';
import { Revocations } from '../credentials/revocations.js';
import { rowsOf } from '../data/rows-of.js';
import { ClientAuthentication } from './client-authentication.js';
import { OAuthParameters } from './oauth-parameters.js';
import { TokenSubjects, type Introspection } from './token-subjects.js';

const INACTIVE: Introspection = { active: false };

/** Revokes and describes tokens for the application to which they were issued. */
@Injectable()
export class TokenStatus {
  constructor(
    private readonly clients: ClientAuthentication,
    private readonly unitOfWork: UnitOfWork,
    private readonly subjects: TokenSubjects,
    private readonly revocations: Revocations,
    private readonly grants: Grants,
  ) {}

  /**
   * RFC 7009: revoking a refresh token revokes its whole grant, revoking an access token only that token. Unknown
   * tokens and those of other applications are not an error.
   * @throws invalid_client and invalid_request.
   */
  async revoke(request: Request): Promise<void> {
    const parameters = new OAuthParameters(request.body);
    const client = await this.clients.authenticate(request, parameters);
    const token = parameters.optional('refresh_token') ?? parameters.required('token');
    const refresh = this.subjects.hashOf('refresh', token);
    if (refresh !== undefined) return this.revokeRefresh(client, refresh);
    const access = this.subjects.hashOf('access', token);
    if (access !== undefined) return this.revokeAccess(client, access);
  }

  /** RFC 7662. @throws invalid_client and invalid_request. */
  async introspect(request: Request): Promise<Introspection> {
    const parameters = new OAuthParameters(request.body);
    const client = await this.clients.authenticate(request, parameters);
    const token = parameters.required('token');
    return (await this.subjects.access(client, token)) ?? (await this.subjects.refresh(client, token)) ?? INACTIVE;
  }

  private async revokeRefresh(client: ClientRecord, hash: Buffer): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const granted = 'SELECT grant_id AS "grantId" FROM refresh_tokens WHERE hash = $1';
      const [row] = await rowsOf<{ grantId: number }>(tx, granted, [hash]);
      if (row === undefined) return;
      await this.grants.revoke(tx, { grantId: row.grantId, applicationId: client.id }, 'client');
    });
  }

  private async revokeAccess(client: ClientRecord, hash: Buffer): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const rows = await rowsOf(
        tx,
        `UPDATE access_tokens t SET revoked_at = now() FROM grants g
         WHERE t.hash = $1 AND t.expires_at > now() AND t.revoked_at IS NULL
           AND g.id = t.grant_id AND g.application_id = $2 RETURNING t.grant_id`,
        [hash, client.id],
      );
      if (rows.length > 0) await this.revocations.announce(tx, [`token:${hash.toString('hex')}`]);
    });
  }
}
