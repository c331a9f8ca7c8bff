import { mayPass } from '@gatehouse/postgres';
import type { TunnelLogger } from '@gatehouse/tunnel-kernel';
import type { DatabasePresence } from './database-presence.js';
import { isAnswer } from '../common/edge-database.js';

/** Of what was set aside so much is shown in the log. */
const SHOWN_ROWS = 5;

/** What an edge writes into the database: one writer that fails does not keep the others from theirs. */
export class EdgeWriters {
  private readonly logger: Pick<TunnelLogger, 'error'>;
  private readonly presence: DatabasePresence;
  /** Why the database does not take what this one writes. */
  private readonly failing = new Map<string, string>();
  /** Rows that the database refused for good, since this process began. */
  refusedRows = 0;

  constructor(logger: Pick<TunnelLogger, 'error'>, presence: DatabasePresence) {
    this.logger = logger;
    this.presence = presence;
  }

  /** Never rejects. `name`: what is written, in the plural. */
  async run(name: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
      this.failing.delete(name);
      this.presence.answered();
    } catch (error) {
      // A database that is away is logged once for all writers. A lock timeout is no problem yet.
      if (isAnswer(error) && !mayPass(error)) this.failing.set(name, (error as Error).message);
      this.presence.failed(error);
    }
  }

  /** For what the database refuses: it is in the log, and nowhere else. */
  refused(what: string, rows: readonly unknown[], error: unknown): void {
    this.refusedRows += rows.length;
    const shown = JSON.stringify(rows.slice(0, SHOWN_ROWS));
    const reason = error instanceof Error ? error.message : String(error);
    this.logger.error(`the database refuses ${what}; they are set aside`, { count: rows.length, reason, shown });
  }

  /** For `/readyz`. */
  get problems(): string[] {
    return [...this.failing].map(([name, reason]) => `the edge cannot write ${name}: ${reason}`);
  }
}
