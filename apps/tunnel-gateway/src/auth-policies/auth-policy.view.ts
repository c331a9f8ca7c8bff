import type { AuthPolicyView } from '@gatehouse/contracts';
import { flag, instant } from '../wire/view-parts.js';
import type { AuthPolicy, PolicyOptions } from './auth-policy.entity.js';

/** Hashes stay where they are. */
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
    enabled: flag(policy.enabled),
    ttl_seconds: policy.ttlSeconds ?? 7_200,
    created_at: instant(policy.createdAt),
    updated_at: instant(policy.updatedAt),
  };
}

function namesIn(lines: string): string[] {
  return lines.split('\n').flatMap((line) => (line.includes(':') ? [line.slice(0, line.indexOf(':'))] : []));
}
