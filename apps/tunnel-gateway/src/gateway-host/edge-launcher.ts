import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { EdgeChild } from './edge-process.js';

/**
 * Relayed bytes live in external buffers: a small heap keeps the process small. And what V8 takes for long-lived while
 * requests pile up for a moment is not put straight among what is: there it would hold on to everything that each request
 * leaves behind until the next full collection.
 */
export const EDGE_FLAGS: readonly string[] = ['--max-semi-space-size=8', '--no-allocation-site-pretenuring'];

/** Starts an edge's process. A class, so that tests can hand in another way to start it. */
export class EdgeLauncher {
  private readonly entry: URL;
  private readonly execArgv: readonly string[];

  constructor(entry = new URL('./edge-main.js', import.meta.url), execArgv: readonly string[] = []) {
    this.entry = entry;
    this.execArgv = execArgv;
  }

  launch(): EdgeChild {
    return fork(fileURLToPath(this.entry), [], {
      execArgv: [...this.execArgv, ...EDGE_FLAGS],
      // What it works with it is told; nothing of our environment is its business.
      env: {},
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: false,
    });
  }
}
