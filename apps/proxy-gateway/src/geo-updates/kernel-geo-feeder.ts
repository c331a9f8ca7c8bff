import { Injectable, Logger } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import type { KernelOrigin } from '../kernel-process/kernel-events.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { GeoLibrary } from '../geo/geo-library.js';

/** Sends the paths of the databases to the kernel's process, when it starts and when they change. */
@Injectable()
export class KernelGeoFeeder implements OnModuleInit {
  private readonly logger = new Logger('Geo');

  constructor(
    private readonly kernel: KernelService,
    private readonly library: GeoLibrary,
  ) {}

  onModuleInit(): void {
    this.library.onChange(() => void this.feed());
    this.kernel.onStarted((kernel) => this.feed(kernel));
  }

  /** @param to the only kernel to get them; absent: all of them. */
  private async feed(to?: KernelOrigin): Promise<void> {
    const paths = this.library.paths();
    if (paths.country === null && paths.asn === null) return;
    try {
      await this.kernel.reloadGeo(paths, to);
    } catch (error) {
      // A kernel that is down gets the paths when it is back.
      this.logger.warn('The kernel did not load the geo databases', error);
    }
  }
}
