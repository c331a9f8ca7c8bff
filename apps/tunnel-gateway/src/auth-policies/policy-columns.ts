import { hashPassword } from '@gatehouse/auth';
import { readOutboundUrl } from '@gatehouse/net';
import { AppError } from '@gatehouse/platform';
import type { VisitorPolicyType } from '@gatehouse/tunnel-kernel';
import { fieldError, readField } from '../wire/field-error.js';
import type { AuthPolicyChanges, PolicyUser } from './auth-policy.dto.js';
import type { AuthPolicy } from '../data/auth-policy.entity.js';
import { isVisitorKey } from './visitor-key.js';

const BELONGS = {
  password: ['password'],
  users: ['basic'],
  callback_url: ['callback'],
  copy_headers: ['callback'],
  allow_private: ['callback', 'oauth'],
  oauth: ['oauth'],
} as const satisfies Partial<Record<keyof AuthPolicyChanges, readonly VisitorPolicyType[]>>;

/** The columns of the type; those of other types are cleared. */
export async function columnsOf(
  type: VisitorPolicyType,
  body: AuthPolicyChanges,
  before: AuthPolicy | null,
  allowPrivate: boolean,
): Promise<Partial<AuthPolicy>> {
  refuseStrangeFields(type, body);
  const { enabled, ttl_seconds: ttlSeconds } = body;
  return {
    ...(await secretOf(type, body, before)),
    ...callbackOf(type, body, before, allowPrivate),
    ...(enabled !== undefined && { enabled }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  };
}

function refuseStrangeFields(type: VisitorPolicyType, body: AuthPolicyChanges): void {
  for (const [field, owners] of Object.entries(BELONGS) as [keyof typeof BELONGS, readonly VisitorPolicyType[]][]) {
    if (!owners.includes(type) && body[field] !== undefined && body[field] !== null) {
      throw fieldError(field, `is for policies of type ${owners.join(' or ')}`);
    }
  }
}

async function secretOf(
  type: VisitorPolicyType,
  { password, users }: AuthPolicyChanges,
  before: AuthPolicy | null,
): Promise<Partial<AuthPolicy>> {
  if (type === 'password') {
    if (password === undefined && !before) throw fieldError('password', 'is needed');
    if (password === undefined) return {};
    if (isVisitorKey(before?.password)) {
      throw new AppError('CONFLICT', 'Renew the key of a private tunnel with POST /tunnels/{id}/rotate-visitor-key');
    }
    return { password: await hashPassword(password) };
  }
  if (type !== 'basic') return {};
  if (users === undefined && !before) throw fieldError('users', 'are needed');
  return users === undefined ? {} : { password: await hashUsers(users) };
}

async function hashUsers(users: readonly PolicyUser[]): Promise<string> {
  const names = users.map(({ username }) => username);
  if (new Set(names).size < names.length) throw fieldError('users', 'must have different names');
  const lines: string[] = [];
  // One after the other: each hash uses a whole core.
  for (const { username, password } of users) lines.push(`${username}:${await hashPassword(password)}`);
  return lines.join('\n');
}

function callbackOf(
  type: VisitorPolicyType,
  { callback_url: url }: AuthPolicyChanges,
  before: AuthPolicy | null,
  allowPrivate: boolean,
): Partial<AuthPolicy> {
  if (type !== 'callback') return {};
  if (url === null || (url === undefined && !before)) throw fieldError('callback_url', 'is needed');
  if (url === undefined) return {};
  return { callbackUrl: readField('callback_url', () => readOutboundUrl(url, allowPrivate)) };
}
