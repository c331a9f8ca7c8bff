import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '@gatehouse/child';
import { SPOOL_ARGUMENT, type SpoolFiles } from '../common/spool-files.js';
import type { KernelProgramName } from '../kernel-config/kernel-mode.js';
import type { KernelChild } from './kernel-process.js';

/** A kernel that can be started, or connected to. */
export interface FoundKernel {
  /** Names it in logs and answers. */
  place: string;
  /** @param executable the path of mihomo, for that mode. */
  launch(mode: KernelProgramName, executable: string): KernelChild;
}

/** Starts the kernel's process. Tests replace this class to start something else. */
export class KernelLauncher {
  private readonly entry: URL;
  private readonly execArgv: readonly string[];
  private readonly spoolFiles: SpoolFiles | null;

  /** Whether the kernel keeps running when this service ends. */
  readonly leavesKernelRunning: boolean = false;

  /**
   * @param spoolFiles hold the kernel's records until they are stored. They stay open, since each new kernel gets the
   * same ones.
   */
  constructor(
    entry = new URL('../kernel/kernel-main.js', import.meta.url),
    execArgv: readonly string[] = [],
    spoolFiles: SpoolFiles | null = null,
  ) {
    this.entry = entry;
    this.execArgv = execArgv;
    this.spoolFiles = spoolFiles;
  }

  /** Calls back with all kernels there are, at once or soon, and again when they change. Returns how to end that. */
  find(onFound: (kernels: readonly FoundKernel[]) => void): () => void {
    onFound([{ place: 'own', launch: (mode, executable) => this.launch(mode, executable) }]);
    return () => undefined;
  }

  /** @param executable the path of mihomo, for that mode. */
  launch(mode: KernelProgramName, executable: string): KernelChild {
    const { spoolFiles } = this;
    return fork(fileURLToPath(this.entry), [mode, executable, ...(spoolFiles ? [SPOOL_ARGUMENT] : [])], {
      // A young generation of 8 MiB: relayed bytes live in external buffers, so a small heap suffices.
      execArgv: [...this.execArgv, '--max-semi-space-size=4'],
      // The kernel must not inherit our environment variables, above all not the address of the database.
      env: bareEnvironment(),
      // The kernel gets the files as descriptors 4 and 5 and never learns their path.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...(spoolFiles ?? [])],
      detached: false,
    });
  }
}
