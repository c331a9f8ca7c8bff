import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { notify, type SecretBox } from '@gatehouse/persistence';
import type { DataSource, EntityManager } from 'typeorm';

export interface SigningKey {
  readonly id: number;
  readonly key: KeyObject;
}

interface Row {
  id: number;
  sealed_key: string;
}

export const SIGNING_KEYS_PLACE = 'signing_keys';

/** The key that signs tokens: one row of signing_keys, sealed with the secret key that lives outside the database. */
export class SigningKeys {
  private readonly dataSource: DataSource;
  private readonly box: SecretBox;
  private readonly channel: string;

  constructor(dataSource: DataSource, box: SecretBox, channel: string) {
    this.dataSource = dataSource;
    this.box = box;
    this.channel = channel;
  }

  /** The current key, created now if there is none; replicas that start together agree on one. */
  async current(): Promise<SigningKey> {
    const found = await this.newest(this.dataSource.manager);
    if (found !== undefined) return found;
    return this.dataSource.transaction(async (tx) => {
      await lock(tx);
      return (await this.newest(tx)) ?? this.insert(tx);
    });
  }

  /** Replaces the key and notifies every replica. Earlier tokens become invalid. */
  async rotate(tx: EntityManager): Promise<SigningKey> {
    await lock(tx);
    await tx.query('DELETE FROM signing_keys');
    const key = await this.insert(tx);
    await notify(tx, this.channel, String(key.id));
    return key;
  }

  private async newest(manager: EntityManager): Promise<SigningKey | undefined> {
    const [row] = (await manager.query('SELECT id, sealed_key FROM signing_keys ORDER BY id DESC LIMIT 1')) as Row[];
    return row === undefined
      ? undefined
      : { id: row.id, key: toKey(this.box.open(row.sealed_key, SIGNING_KEYS_PLACE)) };
  }

  private async insert(tx: EntityManager): Promise<SigningKey> {
    const secret = randomBytes(32).toString('base64');
    const [row] = (await tx.query('INSERT INTO signing_keys (sealed_key) VALUES ($1) RETURNING id, sealed_key', [
      this.box.seal(secret, SIGNING_KEYS_PLACE),
    ])) as Row[];
    if (row === undefined) throw new Error('The signing key was not stored.');
    return { id: row.id, key: toKey(secret) };
  }
}

/** A KeyObject: jsonwebtoken tries to parse strings and Buffers as public keys first, fifty times slower. */
function toKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret, 'base64'));
}

async function lock(tx: EntityManager): Promise<void> {
  await tx.query('LOCK TABLE signing_keys IN SHARE ROW EXCLUSIVE MODE');
}
