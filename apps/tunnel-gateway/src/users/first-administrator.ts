import { createFirstAdministrator, FIRST_ADMINISTRATOR } from '@gatehouse/auth';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { TunnelGatewaySettings } from '../settings.js';
import { SetupTokens } from './setup-tokens.js';
import { Users } from './users.service.js';

/** Without users: creates the user `admin`, or a token for creating the first administrator. */
@Injectable()
export class FirstAdministrator implements OnApplicationBootstrap {
  constructor(
    private readonly users: Users,
    private readonly tokens: SetupTokens,
    private readonly settings: TunnelGatewaySettings,
    private readonly logger: JsonLogger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { firstAdministrator, adminPassword } = this.settings;
    if (firstAdministrator === 'setup' && adminPassword === undefined) return this.issueToken();
    const created = await createFirstAdministrator(this.settings, {
      isNeeded: () => this.users.isEmpty(),
      create: (password) => this.users.create({ username: FIRST_ADMINISTRATOR, password, role: 'admin' }),
    });
    if (created) this.logger.log('the first administrator was created', { username: FIRST_ADMINISTRATOR }, 'Users');
  }

  private async issueToken(): Promise<void> {
    if (!(await this.users.isEmpty())) return;
    const file = await this.tokens.issue();
    this.logger.log('nobody can log in yet: POST /api/v1/auth/setup with the token in this file', { file }, 'Users');
  }
}
