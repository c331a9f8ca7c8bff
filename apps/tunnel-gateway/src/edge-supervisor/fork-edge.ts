import { fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '@gatehouse/child';
import type { EdgeChild } from '../common/edge-process.js';

/**
 * Relayed bytes live in external buffers, so a small heap keeps the process small. The larger young generation keeps
 * short-lived objects of request bursts out of the old one, where they would hold on to memory until the next full
 * collection.
 */
export const EDGE_FLAGS: readonly string[] = ['--max-semi-space-size=8', '--no-allocation-site-pretenuring'];
/** Only for this process. */
const SUPERVISOR_FLAG = /^--max-semi-space-size=/;

/** Starts an edge's process from the program beside this one, built or from source as this one is. */
export function forkEdge(): EdgeChild {
  const entry = new URL(`../edge/edge-main${extname(import.meta.url)}`, import.meta.url);
  return fork(fileURLToPath(entry), [], {
    execArgv: [...process.execArgv.filter((flag) => !SUPERVISOR_FLAG.test(flag)), ...EDGE_FLAGS],
    // The edge gets everything it needs in messages and does not inherit our environment variables.
    env: bareEnvironment(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: false,
  });
}
