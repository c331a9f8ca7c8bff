import { hashPassword, needsRehash, verifyPassword } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type Repository } from 'typeorm';
import { SiteAccount, type SiteRole } from './site-account.entity.js';

export interface NewSiteAccount {
  readonly username: string;
  readonly password: string;
  readonly role: SiteRole;
}

/** Site accounts: finding them, checking their passwords, making them. */
@Injectable()
export class SiteAccounts {
  private readonly accounts: Repository<SiteAccount>;

  constructor(dataSource: DataSource) {
    this.accounts = dataSource.getRepository(SiteAccount);
  }

  /** An account that may log in. */
  async findActive(id: number): Promise<SiteAccount | null> {
    return this.accounts.findOneBy({ id, disabledAt: IsNull() });
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.accounts.exists());
  }

  /** Makes an account; false when the name is taken. */
  async create({ username, password, role }: NewSiteAccount): Promise<boolean> {
    const passwordHash = await hashPassword(password);
    const { raw } = await this.accounts
      .createQueryBuilder()
      .insert()
      .values({ username, nickname: username, passwordHash, role })
      .orIgnore()
      .returning('id')
      .execute();
    return (raw as unknown[]).length > 0;
  }

  /** The account of a name and password; undefined takes as long for unknown names as for wrong passwords. */
  async verify(username: string, password: string): Promise<SiteAccount | undefined> {
    const account = await this.accounts
      .createQueryBuilder('account')
      .where('lower(account.username) = lower(:username)', { username })
      .andWhere('account.disabledAt IS NULL')
      .getOne();
    if (!(await verifyPassword(password, account?.passwordHash)) || account === null) return undefined;
    if (needsRehash(account.passwordHash)) {
      await this.accounts.update({ id: account.id }, { passwordHash: await hashPassword(password) });
    }
    return account;
  }
}
