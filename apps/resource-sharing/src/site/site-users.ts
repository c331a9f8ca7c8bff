import { SessionUsers, type SessionUser } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import { SiteAccounts } from './site-accounts.service.js';

/** Site accounts, for sessions. */
@Injectable()
export class SiteUsers extends SessionUsers {
  constructor(private readonly accounts: SiteAccounts) {
    super();
  }

  async find(userId: number): Promise<SessionUser | undefined> {
    const account = await this.accounts.findActive(userId);
    if (account === null) return undefined;
    const scope = account.role === 'administrator' ? 'admin' : 'write';
    return { name: account.username, role: account.role, scopes: [scope] };
  }
}
