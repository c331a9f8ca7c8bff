import { pgPool, withLayer } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Caller } from '../credentials/caller.js';
import { RevocableCache, type Soon } from '../credentials/revocable-cache.js';
import { Revocations, type Subject } from '../credentials/revocations.js';

/** What a test account begins with. */
export const FIRST_POINTS = 1_000;

const ACCOUNTS = 10_000;

interface TestAccount {
  readonly id: number;
  readonly subjects: readonly Subject[];
}

/** A caller with a test key and a user. */
type TestCaller = Pick<Caller, 'applicationId' | 'userId'>;

/** The accounts that stand for users in test mode: one for each application and user, made when it is first needed. */
@Injectable()
export class TestAccounts {
  private readonly accounts: RevocableCache<TestAccount>;

  constructor(
    private readonly dataSource: DataSource,
    revocations: Revocations,
  ) {
    this.accounts = new RevocableCache(revocations, ACCOUNTS, ({ subjects }) => subjects);
  }

  /** The caller with its test account in the place of the user; as it is without a user. */
  callerOf(caller: Caller): Soon<Caller> {
    if (caller.userId === null) return caller;
    const account = this.of(caller);
    return account instanceof Promise ? account.then((id) => withUser(caller, id)) : withUser(caller, account);
  }

  private of({ applicationId, userId }: TestCaller): Soon<number> {
    const known = this.accounts.get(`${applicationId} ${userId}`, () => this.open(applicationId ?? 0, userId ?? 0));
    return known instanceof Promise ? known.then(idOf) : idOf(known);
  }

  /** Makes the account unless there is one. */
  async open(applicationId: number, userId: number): Promise<TestAccount> {
    const { rows } = await withLayer(String(applicationId), () =>
      pgPool(this.dataSource).query<{ id: number }>({
        name: 'open_test_account',
        text: 'SELECT open_test_account($1, $2, $3) AS id',
        values: [applicationId, userId, FIRST_POINTS],
      }),
    );
    return { id: rows[0]?.id ?? 0, subjects: [`application:${applicationId}`, `user:${userId}`] };
  }
}

const withUser = (caller: Caller, userId: number): Caller => ({ ...caller, userId });

function idOf(account: TestAccount | null): number {
  if (account === null) throw new Error('a test account was neither found nor made');
  return account.id;
}
