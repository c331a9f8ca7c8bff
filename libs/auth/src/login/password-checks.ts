import { AppError } from '@gatehouse/platform';
import type { DataSource, EntityManager } from 'typeorm';
import { checkPassword } from '../passwords/check-password.js';
import type { LoginThrottle } from './login-throttle.js';

/** What logins need of an account. */
export interface LoginAccount {
  readonly id: number;
  readonly passwordHash: string;
}

export interface GivenPassword {
  readonly password: string;
}

/** The accounts of a service, and what differs in how it checks their passwords. */
export interface PasswordPolicy<A extends LoginAccount, G extends GivenPassword> {
  /** Has the columns id, password_hash and updated_at. */
  readonly table: string;
  /** The account with this name, if it may log in. */
  findByName(name: string): Promise<A | null>;
  /** The account with this id, if it may log in. */
  findById(id: number): Promise<A | null>;
  /** The name under which failures of the account are counted. */
  nameOf(account: A): string;
  /** What the service wants beside the password, such as a second factor; false counts as a wrong password. */
  acceptsAlso?(account: A, given: Omit<G, 'password'>): Promise<boolean>;
  /** The error for a wrong current password. */
  refusal(account: A): AppError;
}

/**
 * Checks passwords within the limits of logins: for a login, and again for what an open session alone may not do. Services
 * extend it with their policy.
 */
export abstract class PasswordChecks<A extends LoginAccount, G extends GivenPassword = GivenPassword> {
  protected constructor(
    protected readonly dataSource: DataSource,
    private readonly throttle: LoginThrottle,
    private readonly policy: PasswordPolicy<A, G>,
  ) {}

  /**
   * The account with this name; undefined for wrong credentials. Unknown names take as long as wrong passwords.
   * @throws AppError RATE_LIMITED with Retry-After after too many failures
   */
  async login(name: string, given: G, address: string): Promise<A | undefined> {
    return this.attempt(address, name, given, () => this.policy.findByName(name));
  }

  /**
   * The account of a login, once its password was given again.
   * @throws AppError UNAUTHORIZED if the account is gone; the policy's refusal; RATE_LIMITED: failures count as failed logins
   */
  async confirm(accountId: number, given: G, address: string): Promise<A> {
    const account = await this.policy.findById(accountId);
    if (account === null) throw new AppError('UNAUTHORIZED');
    const confirmed = await this.attempt(address, this.policy.nameOf(account), given, () =>
      this.policy.findById(accountId),
    );
    if (confirmed === undefined) throw this.policy.refusal(account);
    return confirmed;
  }

  /**
   * The second step of a login, for what is wanted beside the password. `find`: the account, if its password is still the one
   * that was found right in the first step. Undefined for what is wrong, which counts as a failed login.
   * @throws AppError RATE_LIMITED, and what the policy throws
   */
  async complete(
    name: string,
    find: () => Promise<A | null>,
    given: Omit<G, 'password'>,
    address: string,
  ): Promise<A | undefined> {
    return this.throttle.attempt(address, name, async () => {
      const account = await find();
      if (account === null) return undefined;
      return (await this.policy.acceptsAlso?.(account, given)) === false ? undefined : account;
    });
  }

  /** Stores another hash; false if the account has another one by now. */
  async replaceHash(
    { id, passwordHash: former }: LoginAccount,
    newer: string,
    tx: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<boolean> {
    const [, replaced] = (await tx.query(
      `UPDATE ${this.policy.table} SET password_hash = $3, updated_at = $4 WHERE id = $1 AND password_hash = $2`,
      [id, former, newer, new Date()],
    )) as [unknown, number];
    return replaced === 1;
  }

  /** Finds the account within the attempt: it may have changed while others had their turn. */
  private async attempt(
    address: string,
    name: string,
    given: G,
    find: () => Promise<A | null>,
  ): Promise<A | undefined> {
    return this.throttle.attempt(address, name, async () => {
      const account = await find();
      const stored = account && {
        hash: account.passwordHash,
        replace: (newer: string) => this.replaceHash(account, newer),
      };
      const hash = await checkPassword(given.password, stored);
      if (account === null || hash === undefined) return undefined;
      const current = Object.assign(account, { passwordHash: hash });
      return (await this.policy.acceptsAlso?.(current, given)) === false ? undefined : current;
    });
  }
}
