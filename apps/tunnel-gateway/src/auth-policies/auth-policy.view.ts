import type { AuthPolicyView, PolicyOAuthView } from '@gatehouse/contracts';
import { flag, instant } from '../wire/view-parts.js';
import type { AuthPolicy, PolicyOptions } from '../data/auth-policy.entity.js';
import type { StoredOAuth } from '../common/config-rows.js';

/** Hashes are never shown. A secret that is missing after a restore counts as none. */
export function toAuthPolicyView(policy: AuthPolicy, options: PolicyOptions | undefined): AuthPolicyView {
  return {
    id: policy.id,
    resource_type: policy.resourceType,
    resource_id: policy.resourceId,
    type: policy.type,
    has_password: policy.password !== null,
    users: policy.type === 'basic' ? namesIn(policy.password ?? '') : [],
    callback_url: policy.callbackUrl,
    copy_headers: options?.copyHeaders ?? [],
    allow_private: options?.allowPrivate ?? false,
    oauth: options?.oauth ? toOAuthView(options.oauth, Boolean(options.sealedSecret)) : null,
    enabled: flag(policy.enabled),
    ttl_seconds: policy.ttlSeconds ?? 7_200,
    created_at: instant(policy.createdAt),
    updated_at: instant(policy.updatedAt),
  };
}

function toOAuthView({ issuer, clientId, scope, server, ...people }: StoredOAuth, hasSecret: boolean): PolicyOAuthView {
  return {
    issuer,
    server: server?.isProfile ? 'resource_sharing' : 'standard',
    client_id: clientId,
    has_client_secret: hasSecret,
    scope: scope ?? null,
    authorization_endpoint: server?.authorizationEndpoint ?? null,
    token_endpoint: server?.tokenEndpoint ?? null,
    userinfo_endpoint: server?.userinfoEndpoint ?? null,
    introspection_endpoint: server?.introspectionEndpoint ?? null,
    subjects: people.subjects ?? [],
    names: people.names ?? [],
    emails: people.emails ?? [],
  };
}

function namesIn(lines: string): string[] {
  return lines.split('\n').flatMap((line) => (line.includes(':') ? [line.slice(0, line.indexOf(':'))] : []));
}
