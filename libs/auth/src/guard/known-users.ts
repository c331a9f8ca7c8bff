import { afterCommit, notify, type PgListener } from '@gatehouse/persistence';
import type { EntityManager } from 'typeorm';
import { BoundedCache } from '../cache/bounded-cache.js';
import type { Scope } from './actor.js';

/** The service's users, for sessions. An abstract class because it is also the injection token. */
export abstract class SessionUsers {
  /**
   * The user of an open session or an API key; undefined when they are gone or disabled. Answers are kept for 5 s, or
   * until `KnownUsers.forget` says that the user is another now.
   */
  abstract find(userId: number): Promise<SessionUser | undefined>;
}

/** A user as sessions need one. */
export interface SessionUser {
  readonly name: string;
  readonly role: string | null;
  readonly scopes: readonly Scope[];
}

const KEPT_MS = 5_000;
const KEPT_ENTRIES = 10_000;

/** The service's users as credentials find them, kept for a moment. */
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
   * Says in a `UnitOfWork` that role, name or status of a user are others: here before the work resolves, on other
   * replicas as soon as they hear of it.
   */
  async forget(userId: number, tx: EntityManager): Promise<void> {
    afterCommit(tx, () => this.cache.delete(String(userId)));
    await notify(tx, this.channel, String(userId));
  }
}
