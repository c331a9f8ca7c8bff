import { fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EdgeChild } from '../common/edge-process.js';

/**
 * Relayed bytes live in external buffers: a small heap keeps the process small. And what V8 takes for long-lived while
 * requests pile up for a moment is not put straight among what is: there it would hold on to everything that each request
 * leaves behind until the next full collection.
 */
export const EDGE_FLAGS: readonly string[] = ['--max-semi-space-size=8', '--no-allocation-site-pretenuring'];
/** Of this process alone. */
const SUPERVISOR_FLAG = /^--max-semi-space-size=/;

/** Starts an edge's process: the program beside this one, built or from source as this one is. */
export function forkEdge(): EdgeChild {
  const entry = new URL(`../edge/edge-main${extname(import.meta.url)}`, import.meta.url);
  return fork(fileURLToPath(entry), [], {
    execArgv: [...process.execArgv.filter((flag) => !SUPERVISOR_FLAG.test(flag)), ...EDGE_FLAGS],
    // What it works with it is told; nothing of our environment is its business.
    env: {},
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: false,
  });
}
