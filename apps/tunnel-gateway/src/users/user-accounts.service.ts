import { type Actor, hashPassword, keepAnswer, requireLogin } from '@gatehouse/auth';
import type { TunnelUserPage, TunnelUserView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { QueryFailedError, type EntityManager } from 'typeorm';
import { OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { containing } from '../data/sort-keys.js';
import { fieldError } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { refuseGuessable } from './password-rules.js';
import { Revocation } from './revocation.js';
import { SecondFactor } from './second-factor.js';
import { USER_SORT, type NewUserBody, type UserChanges, type UserQuery, type UserRemovalQuery } from './user.dto.js';
import { DISABLED, ENABLED, User } from '../data/user.entity.js';
import { readQuotas, saveQuota } from '../quotas/quotas.js';
import { toUserView } from './user.view.js';

/** One change of administrators at a time, so that the last two cannot be removed concurrently. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.administrators'))`;
const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';

/** Domains move with the clients whose hosts use them; those that the heir also claimed are removed with the user. */
const DOMAINS_TO_HEIR = `
  UPDATE tunnel_gateway_ops.domains SET user_id = $2, updated_at = now() WHERE user_id = $1
    AND name NOT IN (SELECT name FROM tunnel_gateway_ops.domains WHERE user_id = $2)`;

/** Management of users by administrators. */
@Injectable()
export class UserAccounts {
  constructor(
    private readonly owned: OwnedRows,
    private readonly unitOfWork: UnitOfWork,
    private readonly factor: SecondFactor,
    private readonly revocation: Revocation,
  ) {}

  async list(query: UserQuery, actor: Actor): Promise<TunnelUserPage> {
    const { items, next_cursor } = await this.owned.users(actor).page(query, conditionsOf(query), USER_SORT);
    const ids = items.map(({ id }) => id);
    const having = await this.factor.having(ids);
    const quotaOf = await readQuotas(this.owned.options, 'user', ids);
    return { items: items.map((user) => toUserView(user, having.has(user.id), quotaOf(user.id))), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<TunnelUserView> {
    return this.view(await this.owned.users(actor).one(id));
  }

  /** @throws AppError USERNAME_TAKEN */
  async create(body: NewUserBody, actor: Actor): Promise<TunnelUserView> {
    const { username, password, role = 'user', status = ENABLED } = body;
    refuseGuessable('password', password, username);
    const passwordHash = await hashPassword(password);
    return this.stored(username, async (tx) => {
      const user = await this.owned.users(actor, tx).add({ username, passwordHash, role, status });
      await saveQuota(tx, 'user', user.id, body);
      const quotaOf = await readQuotas(tx, 'user', [user.id]);
      // A new user has no second factor.
      return keepAnswer(tx, toUserView(user, false, quotaOf(user.id)));
    });
  }

  /**
   * @throws AppError USERNAME_TAKEN, FORBIDDEN as `refuseOwnCredentials`, CONFLICT if no administrator would be left.
   */
  async update(id: number, body: UserChanges, actor: Actor, expected: ExpectedVersion | null): Promise<TunnelUserView> {
    refuseOwnCredentials(id, body, actor);
    const before = await this.owned.users(actor).one(id);
    const { username, role, status, password } = body;
    if (password !== undefined) refuseGuessable('password', password, username ?? before.username);
    const passwordHash = password === undefined ? undefined : await hashPassword(password);
    const changes = {
      ...(username !== undefined && { username }),
      ...(role !== undefined && { role }),
      ...(status !== undefined && { status }),
      ...(passwordHash !== undefined && { passwordHash }),
    };
    const user = await this.stored(username ?? '', async (tx) => {
      await tx.query(LOCK);
      const changed = await this.owned.users(actor, tx).change(id, changes, expected);
      await saveQuota(tx, 'user', id, body);
      await this.requireAdministrator(tx);
      if (body.reset_totp === true) await this.factor.remove(id, tx);
      await this.shutOut(id, body, tx);
      return changed;
    });
    return this.view(user);
  }

  /** @throws AppError IN_USE for a user with clients, CONFLICT for the last administrator. */
  async remove(
    id: number,
    { transfer_to: heir }: UserRemovalQuery,
    actor: Actor,
    expected: ExpectedVersion | null,
  ): Promise<void> {
    if (heir === id) throw fieldError('transfer_to', 'must be another user');
    await this.stored('', async (tx) => {
      await tx.query(LOCK);
      const users = this.owned.users(actor, tx);
      await users.lock(id, expected);
      if (heir !== undefined) await this.transfer(id, heir, actor, tx);
      await this.revocation.run(id, { logins: true, keys: true }, tx);
      await users.remove(id);
      await this.requireAdministrator(tx);
    });
  }

  private async transfer(from: number, to: number, actor: Actor, tx: EntityManager): Promise<void> {
    if (!(await tx.existsBy(User, { id: to }))) throw fieldError('transfer_to', `there is no user ${to}`);
    const clients = this.owned.clients(actor, tx);
    const own = await clients.some([{ sql: 'row.owner_user_id = :from', parameters: { from } }]);
    for (const { id } of own) await clients.change(id, { ownerUserId: to });
    await tx.query(DOMAINS_TO_HEIR, [from, to]);
  }

  /** Ends everything that was authenticated with a former password, or by a user who is now disabled. */
  private async shutOut(id: number, { password, status }: UserChanges, tx: EntityManager): Promise<void> {
    const keys = password !== undefined;
    await this.revocation.run(id, { logins: keys || status === DISABLED, keys }, tx);
  }

  private async requireAdministrator(tx: EntityManager): Promise<void> {
    if (await tx.existsBy(User, { role: 'admin', status: ENABLED })) return;
    throw new AppError('CONFLICT', 'At least one administrator must remain');
  }

  private async view(user: User): Promise<TunnelUserView> {
    const having = await this.factor.having([user.id]);
    const quotaOf = await readQuotas(this.owned.options, 'user', [user.id]);
    return toUserView(user, having.has(user.id), quotaOf(user.id));
  }

  private async stored<T>(username: string, work: (tx: EntityManager) => Promise<T>): Promise<T> {
    try {
      return await this.unitOfWork.run(work);
    } catch (error) {
      const code = error instanceof QueryFailedError ? (error.driverError as { code?: string }).code : undefined;
      if (code === UNIQUE_VIOLATION)
        throw new AppError('USERNAME_TAKEN', `username: ${username} is taken`, { cause: error });
      if (code === FOREIGN_KEY_VIOLATION) {
        throw new AppError('IN_USE', 'The user has clients: remove them or name the user who gets them', {
          cause: error,
        });
      }
      throw error;
    }
  }
}

/** An open session is not enough to change the credentials of its own user. */
function refuseOwnCredentials(id: number, { password, reset_totp: resetTotp }: UserChanges, actor: Actor): void {
  if (password === undefined && resetTotp !== true) return;
  if (requireLogin(actor) !== id) return;
  throw new AppError(
    'FORBIDDEN',
    'Change your own password and second factor under /auth, which asks for the current password',
  );
}

function conditionsOf({ role, status, q }: UserQuery): Condition[] {
  return [
    ...(role === undefined ? [] : [{ sql: 'row.role = :role', parameters: { role } }]),
    ...(status === undefined ? [] : [{ sql: 'row.status = :status', parameters: { status } }]),
    ...(q === undefined ? [] : [containing(q, ['row.username'])]),
  ];
}
