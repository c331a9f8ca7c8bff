import { createSecretBox, loadDataKey, loadSecretKeys } from '@gatehouse/persistence';
import type { ProxyUserConfig } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Preferences } from '../preferences/preferences.service.js';
import { ProxyGatewaySettings } from '../settings.js';

/** The name in the login, in logs and in `IN-USER` rules. */
export const INTERNAL_USER_NAME = 'gatehouse';

/**
 * The user with which this service fetches through the proxy while logins are needed: users that are rows may be
 * limited or disabled at any time. All processes of the service know its password.
 */
@Injectable()
export class InternalUser {
  private loading: Promise<ProxyUserConfig> | null = null;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ProxyGatewaySettings,
    private readonly preferences: Preferences,
  ) {}

  /**
   * Null while no user is a row and the settings require no login: the proxy is open then.
   * @throws SecretBoxError with another secret key.
   */
  async ifNeeded(queries: Pick<DataSource, 'query'> = this.dataSource): Promise<ProxyUserConfig | null> {
    if (this.preferences.get('kernel.require_login')) return this.get();
    const [found] = (await queries.query('SELECT EXISTS (SELECT FROM proxy_users) AS needed')) as { needed: boolean }[];
    return found?.needed ? this.get() : null;
  }

  private get(): Promise<ProxyUserConfig> {
    this.loading ??= this.load().catch((error: unknown) => {
      this.loading = null;
      throw error;
    });
    return this.loading;
  }

  private async load(): Promise<ProxyUserConfig> {
    const secretKeys = loadSecretKeys({ home: this.settings.home, envValue: this.settings.secretKey });
    const key = await loadDataKey({
      queries: this.dataSource,
      box: createSecretBox(secretKeys),
      secretKeys,
      name: 'internal-proxy-user',
      purpose: 'gatehouse internal proxy user',
    });
    return { username: INTERNAL_USER_NAME, password: key.toString('base64url') };
  }
}
