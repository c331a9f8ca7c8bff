import { hashPassword, type Actor } from '@gatehouse/auth';
import type { AuthPolicyPage, AuthPolicyView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import type { VisitorPolicyType } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { isAdministrator, OwnedRows } from '../ownership/owned-rows.js';
import type { Condition } from '../ownership/owned-table.js';
import { readOptions, writeOptions } from '../ownership/row-options.js';
import { ResourceOwners } from '../ownership/resource-owners.js';
import { fieldError, readField } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import {
  AUTH_POLICY_SORTS,
  type AuthPolicyChanges,
  type AuthPolicyQuery,
  type NewAuthPolicyBody,
  type PolicyUser,
} from './auth-policy.dto.js';
import { PolicyOptions, type AuthPolicy } from './auth-policy.entity.js';
import { toAuthPolicyView } from './auth-policy.view.js';
import { parseCallbackUrl } from './callback-url.js';
import { isVisitorKey } from './visitor-key.js';

/** How visitors prove who they are. */
@Injectable()
export class AuthPoliciesService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly resources: ResourceOwners,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async list(query: AuthPolicyQuery, actor: Actor): Promise<AuthPolicyPage> {
    const { items, next_cursor } = await this.owned
      .authPolicies(actor)
      .page(query, conditionsOf(query), AUTH_POLICY_SORTS);
    return { items: await this.views(items), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<AuthPolicyView> {
    return this.view(await this.owned.authPolicies(actor).one(id));
  }

  async create(body: NewAuthPolicyBody, actor: Actor): Promise<AuthPolicyView> {
    const columns = await columnsOf(body.type, body, null, actor);
    const { resource_type: resourceType, resource_id: resourceId, type } = body;
    const policy = await this.unitOfWork.run(async (tx) => {
      await this.resources.require(actor, resourceType, resourceId, tx);
      const added = await this.owned.authPolicies(actor, tx).add({ ...columns, resourceType, resourceId, type });
      await saveOptions(added.id, body, actor, tx);
      return added;
    });
    return this.view(policy);
  }

  /** What was granted before ends with every change. */
  async update(
    id: number,
    body: AuthPolicyChanges,
    actor: Actor,
    expected: ExpectedVersion | null = null,
  ): Promise<AuthPolicyView> {
    const before = await this.owned.authPolicies(actor).one(id);
    const columns = await columnsOf(before.type, body, before, actor);
    const policy = await this.unitOfWork.run(async (tx) => {
      const changed = await this.owned.authPolicies(actor, tx).change(id, columns, expected);
      await saveOptions(id, body, actor, tx);
      return changed;
    });
    return this.view(policy);
  }

  async remove(id: number, actor: Actor, expected: ExpectedVersion | null = null): Promise<void> {
    await this.unitOfWork.run((tx) => this.owned.authPolicies(actor, tx).remove(id, expected));
  }

  private async view(policy: AuthPolicy): Promise<AuthPolicyView> {
    const [view] = await this.views([policy]);
    if (!view) throw new AppError('INTERNAL');
    return view;
  }

  private async views(policies: readonly AuthPolicy[]): Promise<AuthPolicyView[]> {
    const ids = policies.map(({ id }) => id);
    const options = await readOptions(this.owned.options, PolicyOptions, 'policyId', ids);
    return policies.map((policy) => toAuthPolicyView(policy, options.get(policy.id)));
  }
}

/** Whoever says where a callback leads says whether it may lead inside. */
async function saveOptions(policyId: number, body: AuthPolicyChanges, actor: Actor, tx: EntityManager): Promise<void> {
  const { copy_headers: copyHeaders, callback_url: url } = body;
  const allowPrivate = url === undefined || url === null ? undefined : isAdministrator(actor);
  await writeOptions(tx, PolicyOptions, 'policyId', policyId, { copyHeaders, allowPrivate });
}

/** What the type needs, and nothing that another type has. */
async function columnsOf(
  type: VisitorPolicyType,
  body: AuthPolicyChanges,
  before: AuthPolicy | null,
  actor: Actor,
): Promise<Partial<AuthPolicy>> {
  refuseStrangeFields(type, body);
  const { enabled, ttl_seconds: ttlSeconds } = body;
  return {
    ...(await secretOf(type, body, before)),
    ...callbackOf(type, body, before, actor),
    ...(enabled !== undefined && { enabled }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  };
}

function refuseStrangeFields(type: VisitorPolicyType, body: AuthPolicyChanges): void {
  const belongs = { password: 'password', users: 'basic', callback_url: 'callback', copy_headers: 'callback' } as const;
  for (const [field, owner] of Object.entries(belongs) as [keyof typeof belongs, VisitorPolicyType][]) {
    if (owner !== type && body[field] !== undefined && body[field] !== null) {
      throw fieldError(field, `is for policies of type ${owner}`);
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
      throw new AppError('CONFLICT', 'The key of a private tunnel is renewed by POST /tunnels/{id}/rotate-visitor-key');
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
  // One after the other: hashing takes a core for each.
  for (const { username, password } of users) lines.push(`${username}:${await hashPassword(password)}`);
  return lines.join('\n');
}

function callbackOf(
  type: VisitorPolicyType,
  { callback_url: url }: AuthPolicyChanges,
  before: AuthPolicy | null,
  actor: Actor,
): Partial<AuthPolicy> {
  if (type !== 'callback') return {};
  if (url === null || (url === undefined && !before)) throw fieldError('callback_url', 'is needed');
  if (url === undefined) return {};
  return { callbackUrl: readField('callback_url', () => parseCallbackUrl(url, isAdministrator(actor))) };
}

function conditionsOf({ resource_type: kind, resource_id: resourceId, enabled }: AuthPolicyQuery): Condition[] {
  return [
    ...(kind === undefined ? [] : [{ sql: 'row.resource_type = :kind', parameters: { kind } }]),
    ...(resourceId === undefined ? [] : [{ sql: 'row.resource_id = :resourceId', parameters: { resourceId } }]),
    ...(enabled === undefined ? [] : [{ sql: 'row.enabled = :enabled', parameters: { enabled } }]),
  ];
}
