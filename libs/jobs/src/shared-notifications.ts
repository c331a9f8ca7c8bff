import { EventEmitter } from 'node:events';
import type { PgListener } from '@gatehouse/persistence';
import type pg from 'pg';

/** What is needed of a pool. */
interface Queries {
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>;
}

/**
 * A pool for BullMQ, which takes a client from it for each worker and each event stream and keeps that client for
 * LISTEN. It gets one that holds no connection: queries go to the pool, and notifications come from the one listener of
 * the process.
 */
export class SharedNotifications {
  /**
   * BullMQ polls every ten seconds, because it would not notice a dead connection; the listener's heartbeat notices it.
   */
  readonly options = { keepAlive: true };

  constructor(
    private readonly pool: Queries,
    private readonly listener: Pick<PgListener, 'listen'>,
  ) {}

  connect(): Promise<ListeningClient> {
    return Promise.resolve(new ListeningClient(this.pool, this.listener));
  }

  query(text: string, values?: unknown[]): Promise<pg.QueryResult> {
    return this.pool.query(text, values);
  }

  /** Each queue would report each idle connection that breaks; the owner of the pool does. */
  on(): this {
    return this;
  }

  /** The pool belongs to the process. */
  end(): Promise<void> {
    return Promise.resolve();
  }
}

/** The statements that BullMQ sends over its own client; they may begin with comments. */
const LISTEN = /^LISTEN (\w+);?\s*$/m;
const SET_NAME = /set_config\('application_name'/;
const READ = /^\s*SELECT\b/i;

/** Emits `notification`, and `error` if notifications may have been lost: then BullMQ takes another client. */
class ListeningClient extends EventEmitter<{
  notification: [Pick<pg.Notification, 'channel' | 'payload'>];
  error: [Error];
}> {
  private readonly channels = new Map<string, Promise<() => Promise<void>>>();
  private isReleased = false;

  constructor(
    private readonly pool: Queries,
    private readonly listener: Pick<PgListener, 'listen'>,
  ) {
    super();
  }

  async query(text: string, values?: unknown[]): Promise<Pick<pg.QueryResult, 'rows'>> {
    const channel = LISTEN.exec(text)?.[1];
    if (channel !== undefined) await this.subscribe(channel);
    // The name belongs to the connection, and this client has none.
    else if (!SET_NAME.test(text)) return this.read(text, values);
    return { rows: [] };
  }

  release(): void {
    this.isReleased = true;
    for (const subscribed of this.channels.values()) {
      void subscribed.then((unsubscribe) => unsubscribe()).catch(() => undefined);
    }
    this.channels.clear();
  }

  private async subscribe(channel: string): Promise<void> {
    const present = this.channels.get(channel);
    if (present !== undefined) return void (await present);
    const subscribed = this.listener.listen(
      channel,
      (payload) => this.emit('notification', { channel, payload }),
      () => this.lose(),
    );
    this.channels.set(channel, subscribed);
    try {
      await subscribed;
    } catch (error) {
      this.channels.delete(channel);
      throw error;
    }
  }

  private lose(): void {
    if (!this.isReleased) this.emit('error', new Error('the connection for notifications broke and was opened again'));
  }

  private read(text: string, values?: unknown[]): Promise<pg.QueryResult> {
    // A transaction or a lock would need one connection for all of its statements.
    if (!READ.test(text)) return Promise.reject(new TypeError(`This client has no connection for: ${text}`));
    return this.pool.query(text, values);
  }
}
