import type { TunnelLogger } from '@gatehouse/tunnel-kernel';
import { isAnswer } from '../common/edge-database.js';

/** Logs when the database stops answering, and when it answers again: once each. */
export class DatabasePresence {
  private readonly logger: TunnelLogger;
  private there = true;

  constructor(logger: TunnelLogger) {
    this.logger = logger;
  }

  /** Also usable as an error handler. */
  readonly failed = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    const problem = isAnswer(error) ? 'answers with an error' : 'does not answer';
    if (this.there) this.logger.warn(`the database ${problem}; serving goes on`, { error: message });
    this.there = false;
  };

  answered(): void {
    if (!this.there) this.logger.info('the database answers again');
    this.there = true;
  }
}
