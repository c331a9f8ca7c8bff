import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { createSecretBox, loadDataKey, loadSecretKeys } from '@gatehouse/persistence';
import { DataSource } from 'typeorm';
import { TunnelGatewaySettings } from '../settings.js';

/** Hashes codes that people type: they are short, so that only a key outside the database keeps them from being guessed. */
export class UserCodeHasher {
  private readonly pepper: KeyObject;

  private constructor(pepper: Buffer) {
    this.pepper = createSecretKey(pepper);
  }

  static async load(
    { home, secretKey: envValue }: TunnelGatewaySettings,
    queries: DataSource,
  ): Promise<UserCodeHasher> {
    const secretKeys = loadSecretKeys({ home, envValue });
    const box = createSecretBox(secretKeys);
    const purpose = 'gatehouse tunnel-gateway codes of devices';
    return new UserCodeHasher(await loadDataKey({ queries, box, secretKeys, name: 'userCodes', purpose }));
  }

  hash(userCode: string): Buffer {
    return createHmac('sha256', this.pepper).update(userCode).digest();
  }
}
