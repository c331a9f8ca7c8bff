import { guarded, type Endable } from './flow-boundary.js';

/** Runs work once in the next turn of the event loop, no matter how often it was requested in this one. */
export class NextTurn {
  private due = false;
  private readonly run: () => void;

  /** `flow` is ended by an exception in `work`; null: nothing is. */
  constructor(flow: Endable | null, work: () => void) {
    this.run = guarded(flow, () => {
      this.due = false;
      work();
    });
  }

  schedule(): void {
    if (this.due) return;
    this.due = true;
    setImmediate(this.run);
  }
}
