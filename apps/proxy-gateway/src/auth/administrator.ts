import { createFirstAdministrator, hashPassword, LoginThrottle, PasswordChecks } from '@gatehouse/auth';
import type { LoginAccount } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { ProxyGatewaySettings } from '../settings.js';

/** The name under which logins to the only account are counted. */
export const ADMINISTRATOR = 'administrator';

/** Of the only row of `administrators`. */
export const ADMINISTRATOR_ID = 1;

/** The only account. The database stores a hash of its password. */
@Injectable()
export class Administrator extends PasswordChecks<LoginAccount> implements OnModuleInit {
  private readonly logger = new Logger(Administrator.name);

  constructor(
    dataSource: DataSource,
    throttle: LoginThrottle,
    private readonly settings: ProxyGatewaySettings,
  ) {
    super(dataSource, throttle, {
      table: 'administrators',
      findByName: () => findAdministrator(dataSource),
      findById: () => findAdministrator(dataSource),
      nameOf: () => ADMINISTRATOR,
      refusal: () => new AppError('FORBIDDEN', 'The current password is wrong'),
    });
  }

  async onModuleInit(): Promise<void> {
    const created = await createFirstAdministrator(this.settings, {
      isNeeded: async () => (await findAdministrator(this.dataSource)) === null,
      create: (password) => this.create(password),
    });
    if (created) this.logger.log('The administrator was created');
  }

  async changePassword(tx: EntityManager, password: string): Promise<void> {
    const hash = await hashPassword(password);
    await tx.query('UPDATE administrators SET password_hash = $1, updated_at = now() WHERE id = 1', [hash]);
  }

  private async create(password: string): Promise<boolean> {
    const created: unknown[] = await this.dataSource.query(
      'INSERT INTO administrators (id, password_hash) VALUES (1, $1) ON CONFLICT (id) DO NOTHING RETURNING id',
      [await hashPassword(password)],
    );
    return created.length > 0;
  }
}

async function findAdministrator(dataSource: DataSource): Promise<LoginAccount | null> {
  const [row]: LoginAccount[] = await dataSource.query(
    'SELECT id, password_hash AS "passwordHash" FROM administrators WHERE id = 1',
  );
  return row ?? null;
}
