import type { Actor } from '@gatehouse/auth';
import type { DomainPage, DomainView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { QueryFailedError, type EntityManager } from 'typeorm';
import { lockNames } from './lock-names.js';
import { isAdministrator, OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { containing } from '../data/sort-keys.js';
import { User } from '../data/user.entity.js';
import { fieldError, readField } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { createChallenge, isPublicName, parseDomain } from './domain-name.js';
import { DomainProof } from './domain-proof.js';
import { DOMAIN_SORT, type DomainQuery, type NewDomainBody } from './domain.dto.js';
import type { Domain } from '../data/domain.entity.js';
import { toDomainView } from './domain.view.js';

const UNIQUE_VIOLATION = '23505';
const HAS_OTHER = `
  SELECT 1 FROM tunnel_gateway_ops.domains
  WHERE name = $1 AND user_id <> $2 AND verified_at IS NOT NULL LIMIT 1`;

/** Domains and their owners. */
@Injectable()
export class DomainsService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly unitOfWork: UnitOfWork,
    private readonly proof: DomainProof,
  ) {}

  async list(query: DomainQuery, actor: Actor): Promise<DomainPage> {
    const { items, next_cursor } = await this.owned.domains(actor).page(query, conditionsOf(query), DOMAIN_SORT);
    return { items: items.map(toDomainView), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<DomainView> {
    return toDomainView(await this.owned.domains(actor).one(id));
  }

  /**
   * If an administrator creates it, the name belongs to the user at once; everybody else has to prove it. @throws
   * AppError HOST_CONFLICT for another user's name, CONFLICT for a name that exists already
   */
  async create(body: NewDomainBody, actor: Actor): Promise<DomainView> {
    const name = readField('name', () => parseDomain(body.name));
    const isAssigned = isAdministrator(actor);
    const userId = body.user_id ?? actor.userId ?? 0;
    if (!isAssigned && userId !== actor.userId)
      throw new AppError('FORBIDDEN', 'user_id: only administrators can set this field');
    if (!isAssigned && !isPublicName(name)) {
      throw fieldError('name', 'has no public suffix, so DNS cannot prove it: an administrator has to assign it');
    }
    const added = await this.stored(async (tx) => {
      await lockNames(tx);
      if (!(await tx.existsBy(User, { id: userId }))) throw fieldError('user_id', `there is no user ${userId}`);
      if (isAssigned) await refuseElses(name, userId, tx);
      return this.owned.domains(actor, tx).add({
        userId,
        name,
        method: isAssigned ? 'assigned' : 'dns',
        challenge: createChallenge(),
        verifiedAt: isAssigned ? new Date() : null,
      });
    });
    return toDomainView(added);
  }

  /** @throws AppError CONFLICT without the record, HOST_CONFLICT if another user owns the name by now */
  async verify(id: number, actor: Actor): Promise<DomainView> {
    const claimed = await this.owned.domains(actor).one(id);
    if (claimed.verifiedAt !== null) return toDomainView(claimed);
    await this.proof.require(claimed.name, claimed.challenge);
    const verified = await this.stored(async (tx) => {
      await lockNames(tx);
      await refuseElses(claimed.name, claimed.userId, tx);
      return this.owned.domains(actor, tx).change(id, { verifiedAt: new Date() });
    });
    return toDomainView(verified);
  }

  async remove(id: number, actor: Actor, expected: ExpectedVersion | null): Promise<void> {
    await this.unitOfWork.run((tx) => this.owned.domains(actor, tx).remove(id, expected));
  }

  private async stored(work: (tx: EntityManager) => Promise<Domain>): Promise<Domain> {
    try {
      return await this.unitOfWork.run(work);
    } catch (error) {
      const code = error instanceof QueryFailedError ? (error.driverError as { code?: string }).code : undefined;
      if (code === UNIQUE_VIOLATION) throw new AppError('CONFLICT', 'name: is already on the list', { cause: error });
      throw error;
    }
  }
}

async function refuseElses(name: string, userId: number, tx: EntityManager): Promise<void> {
  const found = (await tx.query(HAS_OTHER, [name, userId])) as unknown[];
  if (found.length > 0) throw new AppError('HOST_CONFLICT', `name: ${name} belongs to another user`);
}

function conditionsOf({ user_id: userId, status, q }: DomainQuery): Condition[] {
  return [
    ...(userId === undefined ? [] : [{ sql: 'row.user_id = :userId', parameters: { userId } }]),
    ...(status === undefined ? [] : [{ sql: `row.verified_at IS ${status === 'verified' ? 'NOT ' : ''}NULL` }]),
    ...(q === undefined ? [] : [containing(q, ['row.name'])]),
  ];
}
