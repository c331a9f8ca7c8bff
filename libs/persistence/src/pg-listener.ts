import { setTimeout as delay } from 'node:timers/promises';
import { KEEP_ALIVE, listenHeartbeat } from '@gatehouse/postgres';
import pg from 'pg';
import type { EntityManager } from 'typeorm';
import { quoteIdentifier } from './data-source.js';

/** PostgreSQL refuses payloads of 8000 bytes or more. */
const PAYLOAD_LIMIT_BYTES = 7_999;
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 10_000;

export type NotificationHandler = (payload: string) => void;

export interface PgListenerConfig {
  url: string;
  applicationName: string;
  /** Milliseconds between checks of the connection; default 10,000. */
  beatMs?: number;
  /** Called for broken connections, failed attempts and handlers that throw. */
  onError?: (error: Error) => void;
}

interface Subscription {
  handler: NotificationHandler;
  /** Called after a reconnection: notifications in the meantime are lost, so caches have to be read again. */
  onGap?: (() => void) | undefined;
  renewal?: NodeJS.Timeout | undefined;
}

export interface ListenOptions {
  /**
   * For a cache without expiry: also calls `onGap` at this interval in milliseconds, so that any lost notification has
   * an effect for no longer than that.
   */
  renewMs?: number;
}

/** Listens to channels on one separate connection, opened with the first subscription and reopened when it breaks. */
export class PgListener {
  private readonly channels = new Map<string, Set<Subscription>>();
  private readonly config: PgListenerConfig;
  private client: pg.Client | undefined;
  private connecting: Promise<void> | undefined;
  private lastStatement: Promise<unknown> = Promise.resolve();
  private readonly closing = new AbortController();

  constructor(config: PgListenerConfig) {
    this.config = config;
  }

  /** Resolves when the database has confirmed the subscription; the returned function ends it. */
  async listen(
    channel: string,
    handler: NotificationHandler,
    onGap?: () => void,
    { renewMs }: ListenOptions = {},
  ): Promise<() => Promise<void>> {
    if (this.closing.signal.aborted) throw new Error('The listener is closed.');
    const subscription: Subscription = { handler, onGap };
    if (renewMs !== undefined) {
      subscription.renewal = setInterval(() => this.call(() => onGap?.()), renewMs).unref();
    }
    const present = this.channels.get(channel);
    if (present === undefined) this.channels.set(channel, new Set([subscription]));
    else present.add(subscription);
    try {
      await this.connected();
      await this.ask(`LISTEN ${quoteIdentifier(channel)}`);
    } catch (error) {
      this.forget(channel, subscription);
      throw error;
    }
    return () => this.unlisten(channel, subscription);
  }

  /** Closes the connection. No handler is called after this. */
  async close(): Promise<void> {
    this.closing.abort();
    for (const subscriptions of this.channels.values()) {
      for (const { renewal } of subscriptions) clearInterval(renewal);
    }
    this.channels.clear();
    await this.connecting?.catch(() => undefined);
    const { client } = this;
    this.client = undefined;
    await client?.end();
  }

  private async unlisten(channel: string, subscription: Subscription): Promise<void> {
    if (this.forget(channel, subscription)) await this.ask(`UNLISTEN ${quoteIdentifier(channel)}`);
  }

  /** True when it was the channel's last subscription. */
  private forget(channel: string, subscription: Subscription): boolean {
    clearInterval(subscription.renewal);
    const subscriptions = this.channels.get(channel);
    subscriptions?.delete(subscription);
    if (subscriptions === undefined || subscriptions.size > 0) return false;
    return this.channels.delete(channel);
  }

  /**
   * Statements run one after another. Without a connection there is nothing to do: the next one listens to all
   * channels.
   */
  private async ask(statement: string): Promise<void> {
    const { client } = this;
    if (client === undefined) return;
    const answer = this.lastStatement.then(() => client.query(statement));
    this.lastStatement = answer.catch(() => undefined);
    await answer;
  }

  private async connected(): Promise<void> {
    if (this.client !== undefined) return;
    this.connecting ??= this.connect().finally(() => {
      this.connecting = undefined;
    });
    await this.connecting;
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.config.url,
      application_name: this.config.applicationName,
      connectionTimeoutMillis: 10_000,
      query_timeout: 10_000,
      ...KEEP_ALIVE,
    });
    client.on('error', (error) => this.report(error));
    client.on('notification', ({ channel, payload }) => this.deliver(channel, payload ?? ''));
    try {
      await client.connect();
      for (const channel of this.channels.keys()) await client.query(`LISTEN ${quoteIdentifier(channel)}`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    this.client = client;
    const stop = listenHeartbeat(client, this.config.beatMs);
    client.once('end', () => {
      stop();
      if (this.client !== client) return;
      this.client = undefined;
      void this.reconnect();
    });
  }

  private async reconnect(): Promise<void> {
    for (let waitMs = RETRY_FIRST_MS; !this.closing.signal.aborted; waitMs = Math.min(waitMs * 2, RETRY_LAST_MS)) {
      try {
        await delay(waitMs, undefined, { signal: this.closing.signal, ref: false });
        await this.connected();
        this.announceGap();
        return;
      } catch (error) {
        if (!this.closing.signal.aborted) this.report(error as Error);
      }
    }
  }

  private announceGap(): void {
    for (const subscriptions of this.channels.values()) {
      for (const { onGap } of subscriptions) this.call(() => onGap?.());
    }
  }

  private deliver(channel: string, payload: string): void {
    for (const { handler } of this.channels.get(channel) ?? []) this.call(() => handler(payload));
  }

  /** The failure of one subscriber must not affect the others. */
  private call(subscriber: () => void): void {
    try {
      subscriber();
    } catch (error) {
      this.report(error as Error);
    }
  }

  private report(error: Error): void {
    this.config.onError?.(error);
  }
}

/**
 * Sends a notification when the transaction commits; equal ones of one transaction arrive once.
 * @throws RangeError for a payload of 8000 bytes or more: send a key and let the listener read the row.
 */
export async function notify(tx: Pick<EntityManager, 'query'>, channel: string, payload: string): Promise<void> {
  const size = Buffer.byteLength(payload);
  if (size > PAYLOAD_LIMIT_BYTES) {
    throw new RangeError(`A notification carries at most ${PAYLOAD_LIMIT_BYTES} bytes, this one has ${size}.`);
  }
  await tx.query('SELECT pg_notify($1, $2)', [channel, payload]);
}
