import { notify, PgListener, UnitOfWork, SECRET_BOX } from '@gatehouse/persistence';
import type { SecretBox } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SECRET_PREFERENCES } from './preference-definitions.js';
import type { PreferenceKey, PreferenceValue } from './preference-definitions.js';
import { PreferenceSnapshot, problemOf } from './preference-snapshot.js';

const CHANNEL = 'proxy_gateway_settings';
/** Settings are reread this often, in case a notification was missed. */
const RENEW_MS = 60_000;

/** Called after values changed, in this or another process. */
export type PreferenceListener = () => void;

/** The settings, kept in memory: reading them does not wait, and a change in any process refreshes them. */
@Injectable()
export class Preferences implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(Preferences.name);
  private readonly listeners = new Set<PreferenceListener>();
  private snapshot = new PreferenceSnapshot();
  private loading: Promise<void> = Promise.resolve();
  private stopListening: (() => Promise<void>) | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly listener: PgListener,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  async onModuleInit(): Promise<void> {
    const renew = (): void => void this.reload();
    this.stopListening = await this.listener.listen(CHANNEL, renew, renew, { renewMs: RENEW_MS });
    await this.load();
  }

  async onModuleDestroy(): Promise<void> {
    this.listeners.clear();
    await this.stopListening?.();
    await this.loading;
  }

  get<K extends PreferenceKey>(key: K): PreferenceValue<K> {
    return this.snapshot.get(key);
  }

  /** Every key with its text, defaults included. */
  texts(): Readonly<Record<PreferenceKey, string>> {
    return this.snapshot.texts();
  }

  /** Returns a function that removes the listener. */
  onChange(listener: PreferenceListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * Stores all changes or none.
   * @throws AppError INVALID_ARGUMENT naming every unknown key and invalid value.
   */
  async write(changes: Readonly<Record<string, string>>): Promise<void> {
    const problems = Object.entries(changes).map(([key, value]) => problemOf(key, value));
    const details = problems.flatMap((problem) => (problem ? [{ field: problem.key, message: problem.message }] : []));
    if (details.length > 0) throw new AppError('INVALID_ARGUMENT', 'Some settings are not acceptable', { details });
    await this.unitOfWork.run(async (tx) => {
      await tx.query(
        `INSERT INTO settings (key, value, updated_at) SELECT key, value, now() FROM unnest($1::text[], $2::text[]) AS changed (key, value)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
        [Object.keys(changes), Object.entries(changes).map(([key, value]) => this.toStored(key, value))],
      );
      await notify(tx, CHANNEL, '');
    });
    await this.reload();
  }

  /** One read at a time, in order: a slow older read must not overwrite a newer one. */
  private reload(): Promise<void> {
    this.loading = this.loading
      .then(() => this.load())
      .catch((error: unknown) =>
        this.logger.error('The settings could not be read again; the previous values stay in use', error),
      );
    return this.loading;
  }

  private toStored(key: string, value: string): string {
    return SECRET_PREFERENCES.has(key) && value !== '' ? this.box.seal(value, `settings:${key}`) : value;
  }

  /**
   * Pairs with a colon were stored before sealing was introduced.
   * @throws SecretBoxError: without its users the proxy would be open to everyone.
   */
  private fromStored(key: string, value: string): string {
    return SECRET_PREFERENCES.has(key) && value !== '' && !value.includes(':')
      ? this.box.open(value, `settings:${key}`)
      : value;
  }

  private async load(): Promise<void> {
    const rows: { key: string; value: string }[] = await this.dataSource.query('SELECT key, value FROM settings');
    this.snapshot = new PreferenceSnapshot(rows.map(({ key, value }) => ({ key, value: this.fromStored(key, value) })));
    for (const { key, message } of this.snapshot.rejected) {
      this.logger.warn(`The stored setting ${key} is not used: it ${message}`);
    }
    for (const listener of this.listeners) listener();
  }
}
