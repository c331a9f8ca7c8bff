import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { TunnelDashboard } from '@gatehouse/contracts';
import { Answers } from '@gatehouse/platform';
import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DashboardService } from './dashboard.service.js';

@ApiTags('dashboard')
@Controller('dashboard')
export class DashboardController {
  constructor(private readonly dashboard: DashboardService) {}

  @Get()
  @Answers('TunnelDashboard', 'Returns the overview')
  get(@CurrentActor() actor: Actor): Promise<TunnelDashboard> {
    return this.dashboard.of(actor);
  }
}
