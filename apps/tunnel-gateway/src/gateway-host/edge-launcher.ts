import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { EdgeChild } from './edge-process.js';

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
      // Relayed bytes live in external buffers: a small heap keeps the process small.
      execArgv: [...this.execArgv, '--max-semi-space-size=4'],
      // What it works with it is told; nothing of our environment is its business.
      env: {},
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: false,
    });
  }
}
