import { hashPassword } from '@gatehouse/auth';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type EntityManager, type Repository } from 'typeorm';
import { SiteAccount, type SiteRole } from './site-account.entity.js';

export interface NewSiteAccount {
  readonly username: string;
  readonly password: string;
  readonly role: SiteRole;
}

/** An account whose password was just found right. */
export type ConfirmedAccount = Pick<SiteAccount, 'id' | 'passwordHash'>;

/** Site accounts: finding them, making them. */
@Injectable()
export class SiteAccounts {
  private readonly accounts: Repository<SiteAccount>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {
    this.accounts = dataSource.getRepository(SiteAccount);
  }

  /** An account that can log in. */
  async findActive(id: number): Promise<SiteAccount | null> {
    return this.accounts.findOneBy({ id, disabledAt: IsNull() });
  }

  /** The same by its name, in any case. */
  async findByName(username: string): Promise<SiteAccount | null> {
    return this.accounts
      .createQueryBuilder('account')
      .where('lower(account.username) = lower(:username)', { username })
      .andWhere('account.disabledAt IS NULL')
      .getOne();
  }

  /** The same for an account that is logged in. @throws UNAUTHORIZED when the account is gone. */
  async require(id: number): Promise<SiteAccount> {
    const account = await this.findActive(id);
    if (account === null) throw new AppError('UNAUTHORIZED');
    return account;
  }

  /** Ids of the accounts with some names, in any letter case; unknown names are absent. */
  async idsOf(usernames: readonly string[]): Promise<Map<string, number>> {
    const rows = (await this.dataSource.query(
      'SELECT id, lower(username) AS name FROM site_accounts WHERE lower(username) = ANY ($1) AND disabled_at IS NULL',
      [usernames.map((name) => name.toLowerCase())],
    )) as { id: number; name: string }[];
    return new Map(rows.map(({ id, name }) => [name, id]));
  }

  /** Names of some accounts by their ids. */
  async namesOf(ids: readonly number[]): Promise<Map<number, string>> {
    const rows = (await this.dataSource.query('SELECT id, username FROM site_accounts WHERE id = ANY ($1)', [ids])) as {
      id: number;
      username: string;
    }[];
    return new Map(rows.map(({ id, username }) => [id, username]));
  }

  /** Stores what its owner chose on a page, for every browser in which they sign in. */
  async keepPreferences(id: number, preferences: Partial<Pick<SiteAccount, 'language' | 'theme'>>): Promise<void> {
    await this.accounts.update({ id }, preferences);
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.accounts.exists());
  }

  /** Creates an account; false if the name is taken. */
  async create(given: NewSiteAccount): Promise<boolean> {
    const passwordHash = await hashPassword(given.password);
    return (await insert(this.dataSource.manager, { ...given, email: null, passwordHash })) !== undefined;
  }

  /** Creates a member, and runs `also` in the same transaction; undefined if the name is taken. */
  async register(
    { username, email, password }: { username: string; email: string | null; password: string },
    also: (tx: EntityManager, id: number) => Promise<void>,
  ): Promise<SiteAccount | undefined> {
    const passwordHash = await hashPassword(password);
    return this.unitOfWork.run(async (tx) => {
      const id = await insert(tx, { username, email, passwordHash, role: 'member' });
      if (id === undefined) return undefined;
      await also(tx, id);
      return tx.findOneByOrFail(SiteAccount, { id });
    });
  }
}

/**
 * Locks an account until the transaction ends.
 * @throws LOGIN_FAILED if its password has changed: nothing that outlives a former password can be created with it.
 */
export async function holdConfirmed(tx: EntityManager, { id, passwordHash }: ConfirmedAccount): Promise<void> {
  const rows = await tx.query<unknown[]>(
    `SELECT FROM site_accounts WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL FOR NO KEY UPDATE`,
    [id, passwordHash],
  );
  if (rows.length === 0) throw new AppError('LOGIN_FAILED', 'The password was changed by another request');
}

/** The id of the new account; undefined if its name is taken. */
async function insert(
  tx: EntityManager,
  { username, email, passwordHash, role }: Pick<SiteAccount, 'username' | 'email' | 'passwordHash' | 'role'>,
): Promise<number | undefined> {
  const rows = (await tx.query(
    `INSERT INTO site_accounts (username, nickname, email, password_hash, role) VALUES ($1, $1, $2, $3, $4)
     ON CONFLICT DO NOTHING RETURNING id`,
    [username, email, passwordHash, role],
  )) as { id: number }[];
  return rows[0]?.id;
}
