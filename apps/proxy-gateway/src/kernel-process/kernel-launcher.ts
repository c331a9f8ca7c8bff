import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '@gatehouse/child';
import { SHARED_PORTS_ARGUMENT, SPOOL_ARGUMENT, type SpoolFiles } from '../common/spool-files.js';
import type { KernelProgramName } from '../kernel-config/kernel-mode.js';
import type { KernelWorkers } from '../kernel-config/kernel-workers.js';
import type { KernelChild } from './kernel-process.js';

/** The place of the kernel that a service starts; further ones have their numbers behind it. */
export const OWN_KERNEL = 'own';

/** A kernel that can be started, or connected to. */
export interface FoundKernel {
  /** Names it in logs and answers. */
  place: string;
  /** @param executable the path of mihomo, for that mode. */
  launch(mode: KernelProgramName, executable: string): KernelChild;
}

/** Files for the records of the kernels of this service, which are numbered from 1. */
export interface KernelSpools {
  /** Null: they cannot be kept on disk. */
  filesOf(worker: number): SpoolFiles | null;
  /** The highest number of a kernel of which records are left; 0: none. */
  highestLeft(): number;
}

const NO_SPOOLS: KernelSpools = { filesOf: () => null, highestLeft: () => 0 };

/** Starts the kernel's process. Tests replace this class to start something else. */
export class KernelLauncher {
  private readonly entry: URL;
  private readonly execArgv: readonly string[];
  private readonly spools: KernelSpools;

  /** Whether the kernel keeps running when this service ends. */
  readonly leavesKernelRunning: boolean = false;

  /** @param spools hold the records of kernels until they are stored. */
  constructor(
    entry = new URL('../kernel/kernel-main.js', import.meta.url),
    execArgv: readonly string[] = [],
    spools: KernelSpools = NO_SPOOLS,
  ) {
    this.entry = entry;
    this.execArgv = execArgv;
    this.spools = spools;
  }

  /**
   * Calls back with all kernels there are, at once or soon, and again when they change. Returns how to end that.
   * @param workers for kernels that this service starts: those that left records run once more.
   */
  find(onFound: (kernels: readonly FoundKernel[]) => void, { wanted, most }: KernelWorkers): () => void {
    const count = Math.min(most, Math.max(wanted, this.spools.highestLeft()));
    onFound(Array.from({ length: count }, (_, index) => this.kernel(index + 1, count > 1)));
    return () => undefined;
  }

  private kernel(worker: number, shared: boolean): FoundKernel {
    // The files stay open, since each new kernel gets the same ones.
    const files = this.spools.filesOf(worker);
    const place = worker === 1 ? OWN_KERNEL : `${OWN_KERNEL}-${worker}`;
    return { place, launch: (mode, executable) => this.launch([mode, executable], files, shared) };
  }

  private launch(program: readonly string[], spoolFiles: SpoolFiles | null, shared: boolean): KernelChild {
    const flags = [...(spoolFiles ? [SPOOL_ARGUMENT] : []), ...(shared ? [SHARED_PORTS_ARGUMENT] : [])];
    return fork(fileURLToPath(this.entry), [...program, ...flags], {
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
