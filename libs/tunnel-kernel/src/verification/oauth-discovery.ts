import type { OAuthEndpoints } from '../config.js';
import { TunnelError } from '../errors.js';
import { OutboundCalls, readJsonObject, type OutboundCallOptions } from './outbound-call.js';

const TIMEOUT_MS = 5_000;

/**
 * The metadata of an authorization server (RFC 8414 section 3, OpenID Connect Discovery 4). @throws TunnelError
 * `connection`, `timeout` if there is none, or it describes another server.
 */
export async function discoverOAuthServer(
  issuer: string,
  allowPrivate: boolean,
  options: Pick<OutboundCallOptions, 'permits' | 'resolve'> = {},
): Promise<OAuthEndpoints> {
  const calls = new OutboundCalls({ ...options, timeoutMs: TIMEOUT_MS });
  try {
    let last: unknown;
    for (const url of metadataAddresses(issuer)) {
      try {
        const headers = { Accept: 'application/json' };
        return readMetadata(issuer, readJsonObject(await calls.send({ url, method: 'GET', headers, allowPrivate })));
      } catch (error) {
        if (!(error instanceof TunnelError)) throw error;
        last = error;
      }
    }
    throw last;
  } finally {
    calls.close();
  }
}

function metadataAddresses(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

function readMetadata(issuer: string, metadata: Record<string, unknown>): OAuthEndpoints {
  // RFC 8414 3.3: metadata of another issuer must not be used.
  if (metadata['issuer'] !== issuer) throw new TunnelError('connection', 'the metadata is of another issuer');
  const endpoint = (name: string): string | undefined => {
    const value = metadata[`${name}_endpoint`];
    return typeof value === 'string' ? value : undefined;
  };
  const [authorizationEndpoint, tokenEndpoint] = [endpoint('authorization'), endpoint('token')];
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw new TunnelError('connection', 'the metadata lacks endpoints');
  }
  const [userinfoEndpoint, introspectionEndpoint] = [endpoint('userinfo'), endpoint('introspection')];
  return {
    authorizationEndpoint,
    tokenEndpoint,
    ...(userinfoEndpoint !== undefined && { userinfoEndpoint }),
    ...(introspectionEndpoint !== undefined && { introspectionEndpoint }),
    namesItself: metadata['authorization_response_iss_parameter_supported'] === true,
  };
}
