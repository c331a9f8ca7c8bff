import { firstAdministratorPassword, JsonLogger } from '@gatehouse/platform';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { Users } from './users.service.js';

export const FIRST_ADMINISTRATOR = 'admin';

/** Makes the user `admin` on the first start, when there is no user. */
@Injectable()
export class FirstAdministrator implements OnApplicationBootstrap {
  constructor(
    private readonly users: Users,
    private readonly settings: TunnelGatewaySettings,
    private readonly logger: JsonLogger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!(await this.users.isEmpty())) return;
    const { home, adminPassword } = this.settings;
    const password = firstAdministratorPassword({ home, envValue: adminPassword });
    const created = await this.users.create({ username: FIRST_ADMINISTRATOR, password, role: 'admin' });
    if (created) this.logger.log('the first administrator was created', { username: FIRST_ADMINISTRATOR }, 'Users');
  }
}
