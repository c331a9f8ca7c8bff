import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '@gatehouse/child';
import { keepOwner, makePrivateFolder } from '@gatehouse/net';
import type { SupervisorStart } from '../common/supervisor-calls.js';

/** The supervisor passes on a few messages: the smallest heap is enough. */
const SUPERVISOR_FLAGS: readonly string[] = ['--max-semi-space-size=1'];

/** Starts an edge with its supervisor. A class, so that tests can inject another way to start it. */
export class EdgeLauncher {
  private readonly entry: URL;
  private readonly execArgv: readonly string[];

  constructor(
    entry = new URL('../edge-supervisor/supervisor-main.js', import.meta.url),
    execArgv: readonly string[] = [],
  ) {
    this.entry = entry;
    this.execArgv = execArgv;
  }

  /**
   * Starts it in a process group of its own without pipes, because it outlives this process. `folder`: for its standard
   * error, where Node writes fatal errors.
   */
  launch(start: SupervisorStart, folder: string): ChildProcess {
    makePrivateFolder(folder);
    const file = join(folder, 'edge-errors.log');
    const errors = openSync(file, 'w', 0o600);
    keepOwner(file);
    try {
      const child = spawn(process.execPath, [...this.execArgv, ...SUPERVISOR_FLAGS, fileURLToPath(this.entry)], {
        env: bareEnvironment(),
        stdio: ['pipe', 'ignore', errors],
        detached: true,
      });
      // Its channel shows whether it serves.
      child.on('error', () => undefined);
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(JSON.stringify(start));
      child.unref();
      return child;
    } finally {
      closeSync(errors);
    }
  }
}
