import { mayPass } from '@gatehouse/postgres';
import type { TunnelLogger } from '@gatehouse/tunnel-kernel';
import type { DatabasePresence } from './database-presence.js';
import { isAnswer } from '../common/edge-database.js';

/** Number of discarded rows that are logged. */
const SHOWN_ROWS = 5;

/** The edge's writers to the database: a failing writer does not affect the others. */
export class EdgeWriters {
  private readonly logger: Pick<TunnelLogger, 'error'>;
  private readonly presence: DatabasePresence;
  /** Errors of failing writers, by name. */
  private readonly failing = new Map<string, string>();
  /** Rows that the database refused permanently since this process started. */
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
      // An absent database is logged once for all writers. A lock timeout is not a problem yet.
      if (isAnswer(error) && !mayPass(error)) this.failing.set(name, (error as Error).message);
      this.presence.failed(error);
    }
  }

  /** Logs rows that the database refuses; they are stored nowhere else. */
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
