import { SessionStore } from '@gatehouse/auth';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { rowsOf } from '../data/rows-of.js';
import { Revocations } from '../credentials/revocations.js';
import { AccountEnd, assertReplaceable } from '../site/account-end.js';
import { SecondFactor } from '../site/second-factor.js';
import type { SiteRole } from '../site/site-account.entity.js';
import { FOREVER, type Permission } from './administration.dto.js';

/** An account as administrators see it. */
export interface KnownUser {
  readonly id: number;
  readonly username: string;
  readonly nickname: string;
  readonly email: string | null;
  readonly emailVerifiedAt: Date | null;
  readonly avatarUrl: string | null;
  readonly role: SiteRole;
  readonly premiumUntil: Date | number | null;
  readonly permissions: readonly string[];
  readonly disabledAt: Date | null;
  readonly lastActiveAt: Date | null;
  readonly createdAt: Date;
  readonly points: number;
  readonly hasSecondFactor: boolean;
}

export interface UserChange {
  /** A time, `forever`, or null for none. */
  readonly premiumUntil?: string | null | undefined;
  readonly permissions?: readonly Permission[] | undefined;
  readonly role?: SiteRole | undefined;
  readonly disabled?: boolean | undefined;
  /** For a user who lost it. */
  readonly resetSecondFactor?: boolean | undefined;
}

const SELECT = `SELECT a.id, a.username, a.nickname, a.email,
    a.email_verified_at AS "emailVerifiedAt", a.avatar_url AS "avatarUrl", a.role,
    a.premium_until AS "premiumUntil", a.permissions, a.disabled_at AS "disabledAt", a.last_active_at AS "lastActiveAt",
    a.created_at AS "createdAt", coalesce(l.balance, 0) AS points,
    f.confirmed_at IS NOT NULL AS "hasSecondFactor"
  FROM site_accounts a
  LEFT JOIN ledger_accounts l ON l.user_id = a.id LEFT JOIN user_totp f ON f.user_id = a.id`;

/** Accounts, for administrators. */
@Injectable()
export class UserAdministration {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly revocations: Revocations,
    private readonly end: AccountEnd,
    private readonly sessions: SessionStore,
    private readonly factor: SecondFactor,
  ) {}

  /** Newest first; `search` is a part of the names or of the email address. */
  async list(options: { search?: string | undefined; limit: number; offset: number }): Promise<KnownUser[]> {
    return rowsOf<KnownUser>(
      this.dataSource,
      `${SELECT} WHERE $1::text IS NULL OR strpos(lower(concat_ws(' ', a.username, a.nickname, a.email)), lower($1)) > 0
       ORDER BY a.id DESC LIMIT $2 OFFSET $3`,
      [options.search ?? null, options.limit, options.offset],
    );
  }

  /** @throws NOT_FOUND */
  async one(id: number): Promise<KnownUser> {
    const [user] = await rowsOf<KnownUser>(this.dataSource, `${SELECT} WHERE a.id = $1`, [id]);
    if (user === undefined) throw new AppError('NOT_FOUND', `There is no account ${id}`);
    return user;
  }

  /** @throws NOT_FOUND, INVALID_ARGUMENT, and CONFLICT for the last administrator, oneself, and deleted accounts. */
  async change(actorId: number, id: number, change: UserChange): Promise<KnownUser> {
    const { username } = await this.one(id);
    if (username.startsWith('deleted:')) throw new AppError('CONFLICT', 'This account was deleted');
    if (id === actorId && (change.disabled === true || change.role === 'member')) {
      throw new AppError('CONFLICT', 'Administrators cannot disable their own account');
    }
    // An open session is not enough to change one's own: the account page asks for password and code.
    if (id === actorId && change.resetSecondFactor === true) {
      throw new AppError('CONFLICT', 'Administrators turn off their own second factor on the account page');
    }
    await this.unitOfWork.run(async (tx) => {
      // The rights of an account are cached for a few seconds, but only for open sessions.
      if (change.role !== undefined && (await setRole(tx, actorId, id, change.role)))
        await this.sessions.endAllOf(id, tx);
      await setRights(tx, actorId, id, change);
      if (change.resetSecondFactor === true) await this.resetFactor(tx, actorId, id);
      if (change.disabled === true) await this.end.disable(tx, id, actorId);
      if (change.disabled === false) await this.end.enable(tx, id, actorId);
      await this.revocations.announce(tx, [`user:${id}`]);
    });
    return this.one(id);
  }

  private async resetFactor(tx: EntityManager, actorId: number, userId: number): Promise<void> {
    if (!(await this.factor.remove(userId, tx))) return;
    await recordEvent(tx, { type: 'user.second_factor_reset', userId, actorId });
  }
}

/** True if it has changed. */
async function setRole(tx: EntityManager, actorId: number, userId: number, role: SiteRole): Promise<boolean> {
  if (role === 'member') await assertReplaceable(tx, userId);
  const changed = await rowsOf(
    tx,
    'UPDATE site_accounts SET role = $2, updated_at = now() WHERE id = $1 AND role <> $2 RETURNING id',
    [userId, role],
  );
  if (changed.length === 0) return false;
  await recordEvent(tx, { type: 'user.role_changed', userId, actorId, details: { role } });
  return true;
}

async function setRights(
  tx: EntityManager,
  actorId: number,
  userId: number,
  { premiumUntil, permissions }: UserChange,
): Promise<void> {
  if (premiumUntil !== undefined) {
    const end = premiumEnd(premiumUntil);
    await tx.query('UPDATE site_accounts SET premium_until = $2, updated_at = now() WHERE id = $1', [userId, end]);
    const details = { premium_until: premiumUntil };
    await recordEvent(tx, { type: 'user.premium_changed', userId, actorId, details });
  }
  if (permissions === undefined) return;
  await tx.query('UPDATE site_accounts SET permissions = $2, updated_at = now() WHERE id = $1', [userId, permissions]);
  await recordEvent(tx, { type: 'user.permissions_changed', userId, actorId, details: { permissions } });
}

/**
 * Forever means more than twenty years: a hundred are stored.
 * @throws INVALID_ARGUMENT for an invalid date and time.
 */
function premiumEnd(text: string | null): Date | null {
  if (text === null) return null;
  const end = text === FOREVER ? new Date() : new Date(text);
  if (text === FOREVER) end.setUTCFullYear(end.getUTCFullYear() + 100);
  if (!Number.isNaN(end.getTime())) return end;
  const message = 'is not a valid date and time';
  throw new AppError('INVALID_ARGUMENT', `premium_until: ${message}`, {
    details: [{ field: 'premium_until', message }],
  });
}
