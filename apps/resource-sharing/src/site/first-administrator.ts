import { createFirstAdministrator, FIRST_ADMINISTRATOR } from '@gatehouse/auth';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ResourceSharingSettings } from '../settings.js';
import { SiteAccounts } from './site-accounts.service.js';

/** Makes the account `admin` on the first start, when nobody has an account. */
@Injectable()
export class FirstAdministrator implements OnApplicationBootstrap {
  constructor(
    private readonly accounts: SiteAccounts,
    private readonly settings: ResourceSharingSettings,
    private readonly logger: JsonLogger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const created = await createFirstAdministrator(this.settings, {
      isNeeded: () => this.accounts.isEmpty(),
      create: (password) => this.accounts.create({ username: FIRST_ADMINISTRATOR, password, role: 'administrator' }),
    });
    if (created) this.logger.log('the first administrator was created', { username: FIRST_ADMINISTRATOR }, 'Site');
  }
}
