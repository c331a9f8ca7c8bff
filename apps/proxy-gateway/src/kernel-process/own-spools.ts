import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { openSpoolFiles, type SpoolFiles } from '../common/spool-files.js';
import type { ProxyGatewaySettings } from '../settings.js';
import type { KernelSpools } from './kernel-launcher.js';

/** In the home of the service. The names contain the port, so that two services with one home have separate files. */
export class OwnSpools implements KernelSpools {
  private readonly folder: string;
  private readonly name: string;

  constructor({ home, port }: Pick<ProxyGatewaySettings, 'home' | 'port'>) {
    this.folder = join(home, 'kernel-records');
    this.name = `records-${port}`;
  }

  /** Null, with a warning, if the home is not writable. */
  filesOf(worker: number): SpoolFiles | null {
    try {
      return openSpoolFiles(this.folder, worker === 1 ? this.name : `${this.name}-${worker}`);
    } catch (error) {
      const { message } = error as Error;
      new Logger('Kernel').warn(`Records that are not stored yet cannot be kept on disk: ${message}`);
      return null;
    }
  }

  highestLeft(): number {
    try {
      const files = readdirSync(this.folder).filter((file) => statSync(join(this.folder, file)).size > 0);
      return Math.max(0, ...files.map((file) => this.workerOf(file)));
    } catch {
      // Without the folder there are no records.
      return 0;
    }
  }

  /** 0 for a file of something else. */
  private workerOf(file: string): number {
    const found = new RegExp(`^${this.name}(?:-([0-9]+))?-[ab]$`).exec(file);
    return found ? Number(found[1] ?? 1) : 0;
  }
}
