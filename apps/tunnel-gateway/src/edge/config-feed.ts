import { guardPromise } from '@gatehouse/net';
import { listenHeartbeat } from '@gatehouse/postgres';
import type pg from 'pg';
import { ACME_CHANNEL } from './acme-answers.js';
import type { EdgeDatabase } from '../common/edge-database.js';
import { EDGES_CHANNEL } from '../common/edge-leases.js';
import { GRANTS_CHANNEL } from '../common/grant-rows.js';
import { QUOTAS_CHANNEL } from './quota-tracker.js';

const CONFIG_CHANNEL = 'tunnel_gateway:config';
const CHANNELS = [CONFIG_CHANNEL, ACME_CHANNEL, GRANTS_CHANNEL, EDGES_CHANNEL, QUOTAS_CHANNEL];
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 5_000;

export interface ConfigFeedOptions {
  database: EdgeDatabase;
  /**
   * The configuration may have changed. `everything`: read all of it, because the database was away and may be another one
   * now, for example after a restore.
   */
  onNews(everything: boolean): void;
  /** The ACME challenges may have changed. */
  onChallenges(): void;
  /** Grants of visitors were made or ended; null: some notifications may have been missed. */
  onGrants(news: string | null): void;
  /** Leases of edges came, changed or went. */
  onEdges?(): void;
  /** Traffic quotas may have changed. */
  onQuotas?(): void;
  onProblem(message: string): void;
}

/** Listens for changes of the configuration, and reconnects when its connection breaks. */
export class ConfigFeed {
  private readonly options: ConfigFeedOptions;
  private client: pg.Client | null = null;
  private timer: NodeJS.Timeout | null = null;
  private waitMs = RETRY_FIRST_MS;
  private wasAway = false;
  private closed = false;

  constructor(options: ConfigFeedOptions) {
    this.options = options;
  }

  async start(): Promise<void> {
    this.timer = null;
    const client = this.options.database.listener();
    this.client = client;
    client.on('error', () => undefined);
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === ACME_CHANNEL) this.options.onChallenges();
      else if (channel === GRANTS_CHANNEL) this.options.onGrants(payload);
      else if (channel === EDGES_CHANNEL) this.options.onEdges?.();
      else if (channel === QUOTAS_CHANNEL) this.options.onQuotas?.();
      else this.options.onNews(false);
    });
    let stop = (): void => undefined;
    client.once('end', () => {
      stop();
      this.ended(client);
    });
    try {
      await client.connect();
      await client.query(CHANNELS.map((channel) => `LISTEN "${channel}"`).join('; '));
      stop = listenHeartbeat(client);
      this.waitMs = RETRY_FIRST_MS;
      // Earlier notifications were missed.
      this.options.onNews(this.wasAway);
      this.wasAway = false;
      this.options.onChallenges();
      this.options.onGrants(null);
      this.options.onEdges?.();
      this.options.onQuotas?.();
    } catch (error) {
      this.options.onProblem(error instanceof Error ? error.message : String(error));
      await client.end().catch(() => undefined);
      this.ended(client);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    await this.client?.end().catch(() => undefined);
  }

  private ended(client: pg.Client): void {
    if (this.client !== client) return;
    this.client = null;
    this.wasAway = true;
    if (this.closed) return;
    this.timer = setTimeout(() => guardPromise(null, this.start()), this.waitMs);
    this.waitMs = Math.min(this.waitMs * 2, RETRY_LAST_MS);
  }
}
