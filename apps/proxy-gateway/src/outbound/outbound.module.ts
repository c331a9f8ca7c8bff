import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-host/kernel.module.js';
import { OutboundController } from './outbound.controller.js';
import { OutboundService } from './outbound.service.js';
import { PolicyOptions } from './policy-options.js';

@Module({
  imports: [KernelModule],
  controllers: [OutboundController],
  providers: [OutboundService, PolicyOptions],
})
export class OutboundModule {}
