import { guarded, type Endable } from './flow-boundary.js';

/** Work that is done once in the next turn of the event loop, however often it was asked for in this one. */
export class NextTurn {
  private due = false;
  private readonly run: () => void;

  /** `flow`: what an exception of `work` ends; null: nothing. */
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
