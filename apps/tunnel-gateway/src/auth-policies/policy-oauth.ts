import { readOutboundUrl } from '@gatehouse/net';
import { discoverOAuthServer, TunnelError, type OAuthEndpoints } from '@gatehouse/tunnel-kernel';
import { fieldError, readField } from '../wire/field-error.js';
import type { PolicyOptions } from '../data/auth-policy.entity.js';
import type { PolicyOAuth } from './policy-oauth.dto.js';
import type { StoredOAuth } from '../common/config-rows.js';

/** `secret` undefined: unchanged. */
export interface ReadOAuth {
  oauth: StoredOAuth;
  secret: string | null | undefined;
}

/** Profile endpoint of resource-sharing. */
const PROFILE_PATH = '/api/open/me';

/**
 * The registration as it is stored; missing endpoints are discovered from the server. @throws AppError
 * VALIDATION_FAILED
 */
export async function readOAuth(
  said: PolicyOAuth,
  before: Pick<PolicyOptions, 'oauth' | 'sealedSecret'> | null,
  allowPrivate: boolean,
): Promise<ReadOAuth> {
  const { issuer, client_id: clientId, subjects = [], names = [], emails = [] } = said;
  checkIssuer(issuer, allowPrivate);
  const isProfile = said.server === 'resource_sharing';
  if (isProfile && emails.length > 0) throw fieldError('oauth.emails', 'are not verified by resource-sharing');
  const found = await endpointsOf(said, allowPrivate);
  const server = isProfile ? withProfile(issuer, found, names.length > 0) : found;
  if (server.userinfoEndpoint === undefined && server.introspectionEndpoint === undefined) {
    throw fieldError('oauth.userinfo_endpoint', 'or oauth.introspection_endpoint is needed');
  }
  const scope = said.scope ?? defaultScope(server, names.length > 0);
  const oauth: StoredOAuth = { issuer, clientId, server, subjects, names, emails, ...(scope !== null && { scope }) };
  return { oauth, secret: secretOf(said, oauth, before) };
}

function checkIssuer(issuer: string, allowPrivate: boolean): void {
  readField('oauth.issuer', () => readOutboundUrl(issuer, allowPrivate));
  if (/[?#]/.test(issuer)) throw fieldError('oauth.issuer', 'must have neither query nor fragment');
}

async function endpointsOf(said: PolicyOAuth, allowPrivate: boolean): Promise<OAuthEndpoints> {
  const read = (name: EndpointName): string | undefined => {
    const text = said[name];
    return typeof text === 'string' ? readField(`oauth.${name}`, () => readOutboundUrl(text, allowPrivate)) : undefined;
  };
  const [authorization, token] = [read('authorization_endpoint'), read('token_endpoint')];
  const [userinfo, introspection] = [read('userinfo_endpoint'), read('introspection_endpoint')];
  const own = {
    ...(userinfo !== undefined && { userinfoEndpoint: userinfo }),
    ...(introspection !== undefined && { introspectionEndpoint: introspection }),
  };
  if (authorization !== undefined && token !== undefined) {
    return { authorizationEndpoint: authorization, tokenEndpoint: token, ...own };
  }
  if (authorization !== undefined) throw fieldError('oauth.token_endpoint', 'is needed');
  if (token !== undefined) throw fieldError('oauth.authorization_endpoint', 'is needed');
  const { userinfoEndpoint, introspectionEndpoint, ...found } = await discover(said.issuer, allowPrivate);
  // resource-sharing says in its introspection and its profile who the user is; its userinfo needs the scope openid. Other servers
  // with userinfo often return no identity from introspection.
  const isProfile = said.server === 'resource_sharing';
  const asksUserinfo = userinfoEndpoint !== undefined && !isProfile;
  return {
    ...found,
    ...(asksUserinfo && { userinfoEndpoint }),
    ...(!asksUserinfo && introspectionEndpoint !== undefined && { introspectionEndpoint }),
    ...own,
  };
}

type EndpointName = 'authorization_endpoint' | 'token_endpoint' | 'userinfo_endpoint' | 'introspection_endpoint';

async function discover(issuer: string, allowPrivate: boolean): Promise<OAuthEndpoints> {
  try {
    const found = await discoverOAuthServer(issuer, allowPrivate);
    // Discovered endpoints are validated like typed ones.
    for (const value of Object.values(found)) if (typeof value === 'string') readOutboundUrl(value, allowPrivate);
    return found;
  } catch (error) {
    if (!(error instanceof TunnelError || error instanceof RangeError)) throw error;
    throw fieldError('oauth.issuer', `does not describe itself in a usable way (${error.message})`, error);
  }
}

/** Introspection identifies the user, without Premium; the profile is only asked for names. */
function withProfile(issuer: string, found: OAuthEndpoints, byName: boolean): OAuthEndpoints {
  const { userinfoEndpoint = `${issuer}${PROFILE_PATH}`, ...rest } = found;
  if (!byName && rest.introspectionEndpoint !== undefined) return { ...rest, isProfile: true };
  return { ...rest, userinfoEndpoint, isProfile: true };
}

function defaultScope({ userinfoEndpoint, isProfile }: OAuthEndpoints, byName: boolean): string | null {
  if (userinfoEndpoint === undefined) return null;
  if (isProfile) return 'vip';
  return byName ? 'openid profile email' : 'openid email';
}

/** A secret is only sent to the server that it was entered for. */
function secretOf(
  { client_secret: secret }: PolicyOAuth,
  now: StoredOAuth,
  before: Pick<PolicyOptions, 'oauth' | 'sealedSecret'> | null,
): string | null | undefined {
  if (secret !== undefined) return secret;
  if (!before?.oauth || before.sealedSecret === null) return null;
  if (receiversOf(now) === receiversOf(before.oauth)) return undefined;
  throw fieldError('oauth.client_secret', 'must be sent again for another server or client');
}

function receiversOf({ issuer, clientId, server }: StoredOAuth): string {
  const { tokenEndpoint, introspectionEndpoint, userinfoEndpoint, isProfile = false } = server ?? {};
  return JSON.stringify([issuer, clientId, tokenEndpoint, introspectionEndpoint, isProfile && userinfoEndpoint]);
}
