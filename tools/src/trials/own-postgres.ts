import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@gatehouse/persistence/server';
import { eventuallyTrue } from './eventually-true.js';

const START_MS = 60_000;

/** A PostgreSQL of a trial, which can be killed and comes back with its data, on the same port. */
export class OwnPostgres implements AsyncDisposable {
  private constructor(
    private readonly folder: string,
    private server: EmbeddedPostgres,
  ) {}

  /** `home`: a folder that PostgreSQL's account can reach. */
  static async start(home: string): Promise<OwnPostgres> {
    const folder = join(home, 'postgres');
    mkdirSync(folder, { mode: 0o711 });
    return new OwnPostgres(folder, await startEmbeddedPostgres({ home: folder }));
  }

  get url(): string {
    return this.server.url();
  }

  /** Ends it without a chance to write anything. */
  async kill(): Promise<void> {
    process.kill(this.server.pid, 'SIGKILL');
    await this.server.exited;
  }

  /** Ends it with everything written. */
  async stop(): Promise<void> {
    await this.server.stop();
  }

  /** Starts it again. What a killed server started may still be there for a moment. @throws Error if it does not start */
  async start(): Promise<void> {
    let reason: unknown;
    const isThere = await eventuallyTrue(async () => {
      try {
        this.server = await startEmbeddedPostgres({ home: this.folder });
        return true;
      } catch (error) {
        reason = error;
        return false;
      }
    }, START_MS);
    if (!isThere) throw reason;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
  }
}
