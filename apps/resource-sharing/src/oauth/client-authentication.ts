import type { ErrorCode } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { isPublic, type ClientRecord } from '../credentials/credential-records.js';
import { CredentialLookup } from '../credentials/credential-lookup.js';
import { LastUse } from '../credentials/last-use.js';
import { assertUsableKey } from '../open-api/caller-of-request.js';
import { OAuthError } from './oauth-error.js';
import type { OAuthParameters } from './oauth-parameters.js';

interface Presented {
  readonly method: 'header' | 'basic' | 'post' | 'none';
  readonly clientId: string | undefined;
  readonly secret: string | undefined;
}

const BASIC_CHALLENGE = 'Basic realm="resource-sharing", charset="UTF-8"';
const KEY_CHALLENGE = 'ApiKey realm="resource-sharing", header="X-API-Key"';

/**
 * The client at the token endpoint: by the application secret in X-API-Key, client_secret_basic, client_secret_post, or
 * for public applications by their client_id alone, together with PKCE (RFC 6749 section 2.3).
 */
@Injectable()
export class ClientAuthentication {
  constructor(
    private readonly lookup: CredentialLookup,
    private readonly lastUse: LastUse,
  ) {}

  /** @throws invalid_client, or invalid_request for more than one method. */
  async authenticate(request: Request, parameters: OAuthParameters): Promise<ClientRecord> {
    const presented = presentedBy(request, parameters);
    const client =
      presented.secret === undefined
        ? await this.byName(presented, request.ip)
        : await this.bySecret(presented, presented.secret, request.ip);
    if (presented.clientId !== undefined && presented.clientId !== client.clientId) throw refused(presented);
    return client;
  }

  private async bySecret(presented: Presented, secret: string, ip: string | undefined): Promise<ClientRecord> {
    const key = await this.lookup.key(secret);
    // A test key proves nothing: it may be in everybody's hands.
    if (key !== null && (key.application === null || key.kind === 'test')) throw refused(presented, 'INVALID_API_KEY');
    try {
      const { id, application } = assertUsableKey(key, ip);
      this.lastUse.note(id, ip);
      if (application === null) throw refused(presented);
      return application;
    } catch (error) {
      if (!(error instanceof AppError) || error instanceof OAuthError) throw error;
      throw refused(presented, error.code);
    }
  }

  private async byName(presented: Presented, ip: string | undefined): Promise<ClientRecord> {
    if (presented.clientId === undefined) throw refused(presented, 'MISSING_API_KEY');
    const client = await this.lookup.client(presented.clientId);
    if (client === null || !client.usable || !isPublic(client) || !client.addresses.allows(ip)) {
      throw refused(presented);
    }
    return client;
  }
}

function presentedBy({ headers }: Request, parameters: OAuthParameters): Presented {
  const header = [headers['x-api-key']].flat().join(',').trim();
  const clientId = parameters.optional('client_id');
  const secret = parameters.optional('client_secret');
  const found: Presented[] = [];
  if (header !== '') found.push({ method: 'header', clientId, secret: header });
  // Clients of the open API may send their user token with every request: next to X-API-Key it is ignored.
  const authorization = header !== '' && isBearer(headers.authorization) ? undefined : headers.authorization;
  if (authorization !== undefined) found.push(basic(authorization, clientId));
  if (secret !== undefined) found.push({ method: 'post', clientId, secret });
  const [first, ...others] = found;
  if (others.some((other) => first?.method !== 'header' || other.secret !== first.secret)) {
    throw new OAuthError('invalid_request', 'Authenticate the application in one way only');
  }
  return first ?? { method: 'none', clientId, secret: undefined };
}

function isBearer(authorization: string | undefined): boolean {
  return authorization !== undefined && /^bearer /i.test(authorization);
}

/** RFC 6749 section 2.3.1: both halves are form-urlencoded before they are joined. */
function basic(authorization: string, inBody: string | undefined): Presented {
  const encoded = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1];
  const [user, ...rest] = Buffer.from(encoded ?? '', 'base64')
    .toString('utf8')
    .split(':');
  const clientId = formDecoded(user);
  const secret = formDecoded(rest.join(':'));
  const presented: Presented = { method: 'basic', clientId, secret };
  if (!clientId || secret === undefined || (inBody !== undefined && inBody !== clientId)) throw refused(presented);
  // Section 2.3.1: public applications may send an empty secret.
  return secret === '' ? { ...presented, secret: undefined } : presented;
}

function formDecoded(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** The same answer for unknown, wrong and disabled, except for the codes that the contract has for X-API-Key. */
function refused({ method }: Presented, code?: ErrorCode): OAuthError {
  const challenge = { header: KEY_CHALLENGE, basic: BASIC_CHALLENGE, post: undefined, none: undefined }[method];
  return new OAuthError('invalid_client', 'The application could not be authenticated', {
    ...(code === undefined || (method !== 'header' && code !== 'MISSING_API_KEY') ? {} : { code }),
    headers: challenge === undefined ? {} : { 'WWW-Authenticate': challenge },
  });
}
