import { onFlowFailure } from './flow-boundary.js';

const LINES_A_MINUTE = 20;
const MINUTE_MS = 60_000;

type Log = (message: string, fields: Record<string, unknown>) => void;

/** Counts the flows that an exception ended, and logs some of them: a peer that can cause one can cause many. */
export class FlowFailures {
  total = 0;
  private readonly log: Log;
  private readonly now: () => number;
  private readonly unsubscribe: () => void;
  private minute = 0;
  private lines = 0;
  private unlogged = 0;

  constructor(log: Log, now: () => number = Date.now) {
    this.log = log;
    this.now = now;
    this.unsubscribe = onFlowFailure(({ where, error }) => this.failed(where, error));
  }

  stop(): void {
    this.unsubscribe();
  }

  private failed(where: string, error: Error): void {
    this.total += 1;
    const minute = Math.floor(this.now() / MINUTE_MS);
    if (minute !== this.minute) Object.assign(this, { minute, lines: 0 });
    if (this.lines === LINES_A_MINUTE) {
      this.unlogged += 1;
      return;
    }
    this.lines += 1;
    const fields = {
      where,
      error: error.stack ?? error.message,
      ...(this.unlogged > 0 && { unlogged: this.unlogged }),
    };
    this.unlogged = 0;
    this.log('An unexpected failure ended a flow; the others go on', fields);
  }
}
