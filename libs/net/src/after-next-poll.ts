import { failFlow, type Endable } from './flow-boundary.js';

/** Work that waits for input that may already be there. An exception ends it and nothing else. */
export interface AfterPoll extends Endable {
  afterPoll(): unknown;
}

let waiting: AfterPoll[] = [];

/**
 * Calls `afterPoll` once the event loop has read what had arrived by now: what belongs together can then be sent together.
 * Nobody waits longer for it than the loop takes for one turn.
 */
export function afterNextPoll(work: AfterPoll): void {
  if (waiting.push(work) === 1) setImmediate(pollOnce);
}

/** Runs after a poll, but what was put in line may have come out of that same poll. */
function pollOnce(): void {
  const due = waiting;
  waiting = [];
  setImmediate(runAll, due);
}

function runAll(due: readonly AfterPoll[]): void {
  for (const work of due) {
    try {
      work.afterPoll();
    } catch (error) {
      failFlow(work, `${work.constructor.name} afterPoll`, error);
    }
  }
}
