import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { KernelLeases } from './kernel-leases.js';
import { KernelsController } from './kernels.controller.js';
import { KernelsService } from './kernels.service.js';

@Module({
  imports: [KernelModule],
  controllers: [KernelsController],
  providers: [KernelsService, KernelLeases],
})
export class KernelsModule {}
