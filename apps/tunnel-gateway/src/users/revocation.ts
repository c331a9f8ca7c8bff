import { ApiKeyStore, KnownUsers, SessionStore } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

export interface Revoked {
  logins: boolean;
  keys: boolean;
}

/** Revokes a user's sessions and keys, everywhere and at once. */
@Injectable()
export class Revocation {
  constructor(
    private readonly sessions: SessionStore,
    private readonly keys: ApiKeyStore,
    private readonly known: KnownUsers,
  ) {}

  /** Caches of role, name and status are invalidated in any case. */
  async run(userId: number, { logins, keys }: Revoked, tx: EntityManager): Promise<void> {
    if (logins) await this.sessions.endAllOf(userId, tx);
    if (keys) await this.keys.revokeAllOf(userId, tx);
    await this.known.forget(userId, tx);
  }
}
