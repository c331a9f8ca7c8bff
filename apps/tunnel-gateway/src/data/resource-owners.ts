import type { Actor } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { User } from './user.entity.js';
import { fieldError } from '../wire/field-error.js';
import { seesAll, OwnedRows } from './owned-rows.js';

export type OwnedKind = 'user' | 'client' | 'tunnel' | 'host';

/** Checks that the resource of a rule or policy exists and belongs to the actor. */
@Injectable()
export class ResourceOwners {
  constructor(private readonly owned: OwnedRows) {}

  /** Also keeps the resource from being removed before the transaction ends. @throws AppError VALIDATION_FAILED */
  async require(actor: Actor, kind: OwnedKind, id: number, tx: EntityManager): Promise<void> {
    try {
      await this.lock(actor, kind, id, tx);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
      throw fieldError('resource_id', `there is no ${kind} ${id}`, error);
    }
  }

  /** @throws AppError NOT_FOUND if it does not exist, or the actor may not see it. */
  async seen(actor: Actor, kind: OwnedKind | 'global', id: number): Promise<void> {
    if (kind === 'client') await this.owned.clients(actor).one(id);
    else if (kind === 'tunnel') await this.owned.tunnels(actor).one(id);
    else if (kind === 'host') await this.owned.hosts(actor).one(id);
    else if (kind === 'user') await this.lock(actor, kind, id, this.owned.options);
    else if (!seesAll(actor) || id !== 0) throw new AppError('NOT_FOUND');
  }

  private async lock(actor: Actor, kind: OwnedKind, id: number, tx: EntityManager): Promise<unknown> {
    if (kind === 'client') return this.owned.clients(actor, tx).lock(id);
    if (kind === 'tunnel') return this.owned.tunnels(actor, tx).lock(id);
    if (kind === 'host') return this.owned.hosts(actor, tx).lock(id);
    const seen = seesAll(actor) || actor.userId === id;
    if (seen && (await tx.existsBy(User, { id }))) return id;
    throw new AppError('NOT_FOUND');
  }
}
