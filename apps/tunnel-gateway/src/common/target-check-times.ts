import type { EdgeMethod } from './edge-ipc.js';

/** How long a target may take to answer a check. */
export const TARGET_CHECK_MS = 4_000;

/** Each process on the way waits longer than the one that it asks. */
const PATIENCE_MS = {
  worker: TARGET_CHECK_MS + 500,
  edge: TARGET_CHECK_MS + 1_000,
  supervisor: TARGET_CHECK_MS + 1_500,
};

/** How long to wait for an answer of `process`; undefined: as usual. */
export function patienceFor(method: EdgeMethod, process: keyof typeof PATIENCE_MS): number | undefined {
  return method === 'checkTarget' ? PATIENCE_MS[process] : undefined;
}
