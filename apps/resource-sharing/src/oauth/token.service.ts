import { AppError, MetricsRegistry } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { ClientRecord } from '../credentials/credential-records.js';
import { ClientAuthentication } from './client-authentication.js';
import { CodeExchange } from './code-exchange.js';
import type { IssuedTokens } from './issued-tokens.js';
import { DEVICE_GRANT, DeviceExchange } from './device-exchange.js';
import { IdTokens } from './id-tokens.js';
import { resourceOf } from './issuer.js';
import { OAuthError } from './oauth-error.js';
import { OAuthParameters } from './oauth-parameters.js';
import { RefreshRotation } from './refresh-rotation.js';

/** The token endpoint, for all wire formats. */
@Injectable()
export class TokenService {
  private readonly resource: string;
  private readonly issued;
  private readonly refused;

  constructor(
    private readonly clients: ClientAuthentication,
    private readonly codes: CodeExchange,
    private readonly refreshes: RefreshRotation,
    private readonly devices: DeviceExchange,
    private readonly idTokens: IdTokens,
    metrics: MetricsRegistry,
  ) {
    this.issued = metrics.counter('gatehouse_tokens_issued_total', 'Pairs of tokens that were issued, by grant type', [
      'grant',
    ]);
    this.refused = metrics.counter(
      'gatehouse_tokens_refused_total',
      'Requests for tokens that were refused, by reason',
      ['reason'],
    );
    this.resource = resourceOf(idTokens.issuer);
  }

  /** `grantType`: given if the address determines it. @throws OAuthError */
  async issue(request: Request, grantType?: 'refresh_token'): Promise<IssuedTokens> {
    try {
      const parameters = new OAuthParameters(request.body);
      const client = await this.clients.authenticate(request, parameters);
      const tokens = await this.issueTokens(client, parameters, grantType);
      return await this.idTokens.addTo(tokens, client.clientId);
    } catch (error) {
      if (error instanceof AppError) this.refused.inc({ reason: reasonOf(error) });
      throw error;
    }
  }

  private async issueTokens(
    client: ClientRecord,
    parameters: OAuthParameters,
    grantType: 'refresh_token' | undefined,
  ): Promise<IssuedTokens> {
    const resource = parameters.optional('resource');
    if (resource !== undefined && resource !== this.resource) {
      throw new OAuthError('invalid_target', `The only resource is ${this.resource}`);
    }
    const wanted = grantType ?? parameters.required('grant_type');
    if (wanted === 'authorization_code') return this.counted(wanted, this.codes.exchange(client, parameters));
    if (wanted === 'refresh_token') return this.counted(wanted, this.refreshes.refresh(client, parameters));
    if (wanted === DEVICE_GRANT) return this.counted('device_code', this.devices.exchange(client, parameters));
    throw new OAuthError(
      'unsupported_grant_type',
      'The grant types are authorization_code, refresh_token and device_code',
    );
  }

  private async counted(grant: string, issuing: Promise<IssuedTokens>): Promise<IssuedTokens> {
    const tokens = await issuing;
    this.issued.inc({ grant });
    return tokens;
  }
}

/** A name of RFC 6749, or another code of the service. */
function reasonOf(error: AppError): string {
  return error instanceof OAuthError ? error.error : error.code.toLowerCase();
}
