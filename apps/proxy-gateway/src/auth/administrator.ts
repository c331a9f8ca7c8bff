import { checkPassword, hashPassword } from '@gatehouse/auth';
import { firstAdministratorPassword } from '@gatehouse/platform';
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
export class Administrator implements OnModuleInit {
  private readonly logger = new Logger(Administrator.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ProxyGatewaySettings,
  ) {}

  /**
   * Creates the account at the first start. After that the password in the database counts, whatever the environment
   * says.
   */
  async onModuleInit(): Promise<void> {
    if ((await this.storedHash()) !== undefined) return;
    const { home, adminPassword } = this.settings;
    const hash = await hashPassword(firstAdministratorPassword({ home, envValue: adminPassword }));
    // When replicas start together, the first insert wins.
    await this.dataSource.query(
      'INSERT INTO administrators (id, password_hash) VALUES (1, $1) ON CONFLICT (id) DO NOTHING',
      [hash],
    );
    this.logger.log('The administrator was created');
  }

  async accepts(password: string): Promise<boolean> {
    const hash = await this.storedHash();
    const stored = hash === undefined ? null : { hash, replace: (newer: string) => this.replaceHash(hash, newer) };
    return (await checkPassword(password, stored)) !== undefined;
  }

  async changePassword(tx: EntityManager, password: string): Promise<void> {
    const hash = await hashPassword(password);
    await tx.query('UPDATE administrators SET password_hash = $1, updated_at = now() WHERE id = 1', [hash]);
  }

  private async storedHash(): Promise<string | undefined> {
    const [row]: { password_hash: string }[] = await this.dataSource.query(
      'SELECT password_hash FROM administrators WHERE id = 1',
    );
    return row?.password_hash;
  }

  private async replaceHash(former: string, newer: string): Promise<boolean> {
    const [, replaced]: [unknown, number] = await this.dataSource.query(
      'UPDATE administrators SET password_hash = $1 WHERE id = 1 AND password_hash = $2',
      [newer, former],
    );
    return replaced === 1;
  }
}
