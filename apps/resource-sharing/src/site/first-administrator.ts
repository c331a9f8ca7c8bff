import { firstAdministratorPassword, JsonLogger } from '@gatehouse/platform';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ResourceSharingSettings } from '../settings.js';
import { SiteAccounts } from './site-accounts.service.js';

export const FIRST_ADMINISTRATOR = 'admin';

/** Makes the account `admin` on the first start, when nobody has an account. */
@Injectable()
export class FirstAdministrator implements OnApplicationBootstrap {
  constructor(
    private readonly accounts: SiteAccounts,
    private readonly settings: ResourceSharingSettings,
    private readonly logger: JsonLogger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!(await this.accounts.isEmpty())) return;
    const { home, adminPassword } = this.settings;
    const password = firstAdministratorPassword({ home, envValue: adminPassword });
    const created = await this.accounts.create({ username: FIRST_ADMINISTRATOR, password, role: 'administrator' });
    if (created) this.logger.log('the first administrator was created', { username: FIRST_ADMINISTRATOR }, 'Site');
  }
}
