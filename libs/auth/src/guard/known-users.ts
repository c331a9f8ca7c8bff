import { afterCommit, notify, type PgListener } from '@gatehouse/persistence';
import type { EntityManager } from 'typeorm';
import { BoundedCache } from '../cache/bounded-cache.js';
import type { Scope } from './actor.js';

/** The service's users, for sessions. An abstract class because it is also the injection token. */
export abstract class SessionUsers {
  /**
   * The user of an open session or an API key; undefined if the user is deleted or disabled. Answers are cached for 5
   * s, or until `KnownUsers.forget` reports a change.
   */
  abstract find(userId: number): Promise<SessionUser | undefined>;
}

/** A user, with the fields that sessions need. */
export interface SessionUser {
  readonly name: string;
  readonly role: string | null;
  readonly scopes: readonly Scope[];
}

const KEPT_MS = 5_000;
const KEPT_ENTRIES = 10_000;

/** The service's users, cached briefly for credentials. */
export class KnownUsers {
  private readonly cache = new BoundedCache<SessionUser>(KEPT_ENTRIES);
  private readonly users: SessionUsers;
  private readonly channel: string;
  private stopListening: (() => Promise<void>) | undefined;

  /** @param channel on which replicas announce users that have changed */
  constructor(users: SessionUsers, channel: string) {
    this.users = users;
    this.channel = channel;
  }

  async start(listener: PgListener): Promise<void> {
    this.stopListening = await listener.listen(
      this.channel,
      (userId) => this.cache.delete(userId),
      () => this.cache.clear(),
    );
  }

  async stop(): Promise<void> {
    await this.stopListening?.();
    this.stopListening = undefined;
  }

  async find(userId: number): Promise<SessionUser | undefined> {
    const known = this.cache.get(String(userId));
    if (known !== undefined) return known;
    const { generation } = this.cache;
    const user = await this.users.find(userId);
    if (user !== undefined) this.cache.set(String(userId), user, Date.now() + KEPT_MS, generation);
    return user;
  }

  /**
   * Reports in a `UnitOfWork` that role, name or status of a user have changed: here before the work resolves, on other
   * replicas as soon as they are notified.
   */
  async forget(userId: number, tx: EntityManager): Promise<void> {
    afterCommit(tx, () => this.cache.delete(String(userId)));
    await notify(tx, this.channel, String(userId));
  }
}
