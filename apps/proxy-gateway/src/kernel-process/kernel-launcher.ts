import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SPOOL_ARGUMENT, type SpoolFiles } from '../common/spool-files.js';
import type { KernelProgramName } from '../kernel-config/kernel-mode.js';
import type { KernelChild } from './kernel-process.js';

/** Starts the kernel's process. A class, so that tests can hand in another way to start it. */
export class KernelLauncher {
  private readonly entry: URL;
  private readonly execArgv: readonly string[];
  private readonly spoolFiles: SpoolFiles | null;

  /** Whether the kernel runs on its own and is not ended with this service. */
  readonly leavesKernelRunning: boolean = false;

  /** `spoolFiles` hold the kernel's records until they are stored. They stay open: each kernel gets the same. */
  constructor(
    entry = new URL('../kernel/kernel-main.js', import.meta.url),
    execArgv: readonly string[] = [],
    spoolFiles: SpoolFiles | null = null,
  ) {
    this.entry = entry;
    this.execArgv = execArgv;
    this.spoolFiles = spoolFiles;
  }

  /** `executable` is mihomo's, for that mode. */
  launch(mode: KernelProgramName, executable: string): KernelChild {
    const { spoolFiles } = this;
    return fork(fileURLToPath(this.entry), [mode, executable, ...(spoolFiles ? [SPOOL_ARGUMENT] : [])], {
      // Young space of 8 MiB: relayed bytes live in external buffers, small heaps keep the process small.
      execArgv: [...this.execArgv, '--max-semi-space-size=4'],
      // Nothing of our environment is the kernel's business, least of all the database's address.
      env: {},
      // The kernel gets descriptors 4 and 5, and no path.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...(spoolFiles ?? [])],
      detached: false,
    });
  }
}
