import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-host/kernel.module.js';
import { TrafficModule } from '../traffic/traffic.module.js';
import { RulesController } from './rules.controller.js';
import { RulesService } from './rules.service.js';
import { TestRoute } from './test-route.js';

@Module({
  imports: [KernelModule, TrafficModule],
  controllers: [RulesController],
  providers: [RulesService, TestRoute],
})
export class RulesModule {}
