import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError, startEmbeddedPostgres, type EmbeddedPostgres } from '@gatehouse/persistence/server';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { POSTGRES_PORT_VARIABLE, type PlatformSettings } from './platform-settings.js';
import { localized, localizedText } from '../../bootstrap/language.mjs';

/** A database that cannot start may do so later, when there is room on the disk again: it is tried for ever. */
const RESTART_DELAYS_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000];
const STEADY_AFTER_MS = 60_000;

/** The database of the platform: started by us, or an external one. */
export interface PlatformDatabase {
  readonly url: string;
  readonly isEmbedded: boolean;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

export interface DatabaseOptions extends Pick<PlatformSettings, 'home' | 'databaseUrl' | 'postgresPort'> {
  /** One line for the person at the terminal. */
  notify: (line: string) => void;
  /** Called with each process id of the embedded server after the first. */
  onRestart: (pid: number) => void;
}

/** @throws PlainFailure when the embedded server cannot be started. */
export async function openDatabase(options: DatabaseOptions): Promise<PlatformDatabase> {
  if (options.databaseUrl !== undefined) {
    return { url: options.databaseUrl, isEmbedded: false, pid: undefined, stop: () => Promise.resolve() };
  }
  try {
    return new EmbeddedDatabase(options, await startServer(options, options.postgresPort));
  } catch (cause) {
    if (cause instanceof EmbeddedPostgresError) {
      throw new PlainFailure(localizedText(cause.text), { cause });
    }
    throw cause;
  }
}

function startServer({ home, notify }: DatabaseOptions, port: number): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    home,
    port,
    portVariable: POSTGRES_PORT_VARIABLE,
    log: (text) => notify(localizedText(text)),
  });
}

/**
 * The embedded server, started again on its port when it ends though nobody stopped it. The services stay: tunnels and
 * the proxy go on without it, and everything else waits.
 */
class EmbeddedDatabase implements PlatformDatabase {
  readonly isEmbedded = true;
  readonly url: string;
  private readonly port: number;
  private startedAt = Date.now();
  private crashes = 0;
  private restarting: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();

  constructor(
    private readonly options: DatabaseOptions,
    private server: EmbeddedPostgres,
  ) {
    this.url = server.url();
    this.port = server.port;
    this.watch();
  }

  get pid(): number {
    return this.server.pid;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.restarting;
    await this.server.stop();
  }

  private watch(): void {
    void this.server.exited.then(({ code, signal }) => {
      if (this.stopping.signal.aborted) return;
      this.crashes = Date.now() - this.startedAt > STEADY_AFTER_MS ? 0 : this.crashes;
      const how = String(signal ?? code);
      this.options.notify(
        localized(
          `[PostgreSQL] ended (${how}) though nobody stopped it; starting it again`,
          `[PostgreSQL] 意外结束（${how}），正在重新启动`,
        ),
      );
      this.restarting = this.restart();
    });
  }

  private async restart(): Promise<void> {
    const { notify, onRestart } = this.options;
    const { signal } = this.stopping;
    let said = '';
    while (!signal.aborted) {
      const pauseMs = RESTART_DELAYS_MS[Math.min(this.crashes, RESTART_DELAYS_MS.length - 1)];
      this.crashes += 1;
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        this.server = await startServer(this.options, this.port);
      } catch (error) {
        const { message } = error as Error;
        if (message !== said) notify(`[PostgreSQL] ${message}`);
        said = message;
        continue;
      }
      this.startedAt = Date.now();
      notify(localized('[PostgreSQL] is back', '[PostgreSQL] 已恢复'));
      onRestart(this.server.pid);
      this.watch();
      return;
    }
  }
}
