import { Jobs } from '@gatehouse/jobs';
import { HealthRegistry } from '@gatehouse/platform';
import { Module } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { GeoApiModule } from '../geo-updates/geo.module.js';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { ProcessVitals } from './process-vitals.js';
import { SystemController } from './system.controller.js';
import { SystemProbes } from './system-probes.js';
import { SystemService } from './system.service.js';

@Module({
  imports: [KernelModule, GeoApiModule],
  controllers: [SystemController],
  providers: [SystemService, SystemProbes, ProcessVitals],
})
export class SystemModule implements OnModuleInit {
  constructor(
    private readonly health: HealthRegistry,
    private readonly jobs: Jobs,
    private readonly kernel: KernelService,
  ) {}

  onModuleInit(): void {
    this.health.register('queue', () => this.jobs.ping());
    this.health.register('kernel', () => this.kernel.status());
  }
}
