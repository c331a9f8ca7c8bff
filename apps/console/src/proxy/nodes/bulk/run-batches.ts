import { messageOf } from '../../../shared/api/api-error.js';

export interface BatchFailure {
  id: number;
  message: string;
}

/** What became of the nodes of a bulk action. Each of them is in exactly one of the lists. */
export interface BulkOutcome {
  done: number[];
  failed: BatchFailure[];
  /** Not tried: the action was stopped, or the service no longer answered. */
  left: number[];
}

export interface BulkRun {
  /** Changes some nodes; says which, and why not the others. */
  send: (ids: number[]) => Promise<{ done: number[]; failed: BatchFailure[] }>;
  /** Of one request. */
  size: number;
  signal: AbortSignal;
  onProgress?: (outcome: BulkOutcome) => void;
}

/** Sends the nodes in slices. A slice that is refused as a whole ends the run, so that the rest is not lost in errors. */
export async function runBatches(ids: readonly number[], run: BulkRun): Promise<BulkOutcome> {
  const outcome: BulkOutcome = { done: [], failed: [], left: [...ids] };
  while (outcome.left.length > 0 && !run.signal.aborted) {
    const slice = outcome.left.slice(0, run.size);
    try {
      const { done, failed } = await run.send(slice);
      outcome.done.push(...done);
      outcome.failed.push(...failed);
      outcome.left.splice(0, slice.length);
    } catch (error) {
      const message = messageOf(error);
      outcome.failed.push(...slice.map((id) => ({ id, message })));
      outcome.left.splice(0, slice.length);
      break;
    } finally {
      run.onProgress?.({ ...outcome });
    }
  }
  return outcome;
}
