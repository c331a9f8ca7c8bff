import type { KernelListResponse, KernelView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { KernelUnavailableError, toAppError } from '../kernel-process/kernel-errors.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { idOf, toLiveView, toRowView, toUnreachable } from './kernel-list.view.js';
import { KernelLeases, type KernelRow } from './kernel-leases.js';
import { readKernels, type SeenKernel } from './seen-kernel.js';

const DRAIN_MS = 10_000;

/** The kernels that carry traffic: those that this service is connected to, and those that only others reach. */
@Injectable()
export class KernelsService {
  constructor(
    private readonly kernel: KernelService,
    private readonly leases: KernelLeases,
  ) {}

  async list(): Promise<KernelListResponse> {
    const [seen, rows] = await Promise.all([readKernels(this.kernel.kernels), this.leasedRows()]);
    const { revision } = this.kernel;
    const here = new Set(seen.map(idOf));
    const others = rows.filter(({ id }) => !here.has(id)).map((row) => toRowView(row, revision));
    const items = [...seen.map((one) => this.viewOf(one, rows)), ...others];
    items.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1));
    return {
      items,
      total: items.length,
      separate: this.kernel.runsElsewhere,
      revision,
      unreachable: this.kernel.kernels.filter(({ running }) => !running).map(toUnreachable),
    };
  }

  /**
   * Makes a kernel stop accepting connections, or accept them again.
   * @throws AppError NOT_FOUND; CONFLICT for a kernel of this service; KERNEL_UNAVAILABLE if this service does not reach
   * it; UNPROCESSABLE if it cannot.
   */
  async drain(id: string, draining: boolean): Promise<KernelView> {
    const found = (await readKernels(this.kernel.kernels)).find((one) => idOf(one) === id);
    if (found?.member.identity === null) {
      throw new AppError(
        'CONFLICT',
        'This kernel belongs to the service and ends with it: it cannot be drained alone.',
      );
    }
    const rows = await this.leasedRows();
    if (!found) throw notReached(rows.find((row) => row.id === id));
    const figures = await found.member.request('drain', { draining }, DRAIN_MS).catch((error: unknown) => {
      if (error instanceof KernelUnavailableError) throw notReached(found);
      throw toAppError(error, found.member.title);
    });
    if (!figures) throw new AppError('UNPROCESSABLE', `${found.member.title} is of a version that cannot be drained.`);
    await this.leases.renew();
    return this.viewOf({ ...found, figures }, await this.leasedRows());
  }

  private viewOf(seen: SeenKernel, rows: readonly KernelRow[]): KernelView {
    const row = rows.find(({ id }) => id === seen.identity?.id);
    return toLiveView(seen, row, this.kernel.revision);
  }

  private leasedRows(): Promise<KernelRow[]> {
    return this.kernel.runsElsewhere ? this.leases.all() : Promise.resolve([]);
  }
}

function notReached(known: object | undefined): AppError {
  if (!known) return new AppError('NOT_FOUND', 'There is no such kernel.');
  return new AppError('KERNEL_UNAVAILABLE', 'This service does not reach the kernel at the moment.');
}
