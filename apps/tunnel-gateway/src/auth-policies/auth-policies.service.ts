import type { Actor } from '@gatehouse/auth';
import type { AuthPolicyPage, AuthPolicyView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { readOptions, writeOptions } from '../data/row-options.js';
import { ResourceOwners } from '../data/resource-owners.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import {
  AUTH_POLICY_SORTS,
  type AuthPolicyChanges,
  type AuthPolicyQuery,
  type NewAuthPolicyBody,
} from './auth-policy.dto.js';
import { PolicyOptions, type AuthPolicy } from '../data/auth-policy.entity.js';
import { toAuthPolicyView } from './auth-policy.view.js';
import { columnsOf } from './policy-columns.js';
import { PolicyOptionReader } from './policy-options.js';

/** Stores a validated policy; `resourceId` if the resource was created after validation. */
export type StorePolicy = (tx: EntityManager, resourceId?: number) => Promise<AuthPolicy>;

/** Policies by which visitors authenticate. */
@Injectable()
export class AuthPoliciesService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly resources: ResourceOwners,
    private readonly unitOfWork: UnitOfWork,
    private readonly optionReader: PolicyOptionReader,
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
    const store = await this.prepare(body, actor);
    return this.view(await this.unitOfWork.run((tx) => store(tx)));
  }

  /** Part of a larger change: hashes are computed here, outside of any transaction. */
  async prepare(body: NewAuthPolicyBody, actor: Actor): Promise<StorePolicy> {
    const options = await this.optionReader.read(body.type, body, null, actor);
    const columns = await columnsOf(body.type, body, null, options.allowPrivate ?? false);
    const { resource_type: resourceType, type } = body;
    return async (tx, resourceId = body.resource_id) => {
      await this.resources.require(actor, resourceType, resourceId, tx);
      const added = await this.owned.authPolicies(actor, tx).add({ ...columns, resourceType, resourceId, type });
      await writeOptions(tx, PolicyOptions, 'policyId', added.id, this.optionReader.sealed(added.id, options));
      return added;
    };
  }

  /** Every change ends what was granted before. @throws AppError CONFLICT if the policy was changed concurrently */
  async update(
    id: number,
    body: AuthPolicyChanges,
    actor: Actor,
    expected: ExpectedVersion | null = null,
  ): Promise<AuthPolicyView> {
    const before = await this.owned.authPolicies(actor).one(id);
    const known = (await readOptions(this.owned.options, PolicyOptions, 'policyId', [id])).get(id) ?? null;
    const options = await this.optionReader.read(before.type, body, known, actor);
    const columns = await columnsOf(before.type, body, before, options.allowPrivate ?? known?.allowPrivate ?? false);
    const policy = await this.unitOfWork.run(async (tx) => {
      const policies = this.owned.authPolicies(actor, tx);
      refuseOthersChange(before, await policies.lock(id, expected));
      const changed = await policies.change(id, columns);
      await writeOptions(tx, PolicyOptions, 'policyId', id, this.optionReader.sealed(id, options));
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

/**
 * Stored values, such as a secret and where it is sent, were validated together: none of them may have changed since.
 */
function refuseOthersChange(before: AuthPolicy, now: AuthPolicy): void {
  if (before.updatedAt?.getTime() === now.updatedAt?.getTime()) return;
  throw new AppError('CONFLICT', 'Another request changed the policy in the meantime; read it again');
}

function conditionsOf({ resource_type: kind, resource_id: resourceId, enabled }: AuthPolicyQuery): Condition[] {
  return [
    ...(kind === undefined ? [] : [{ sql: 'row.resource_type = :kind', parameters: { kind } }]),
    ...(resourceId === undefined ? [] : [{ sql: 'row.resource_id = :resourceId', parameters: { resourceId } }]),
    ...(enabled === undefined ? [] : [{ sql: 'row.enabled = :enabled', parameters: { enabled } }]),
  ];
}
