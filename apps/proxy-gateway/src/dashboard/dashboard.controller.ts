import { Requires } from '@gatehouse/auth';
import { Answers } from '@gatehouse/platform';
import type { DashboardResponse } from '@gatehouse/contracts';
import { Controller, Get, Query } from '@nestjs/common';
import { DashboardQuery } from './dashboard.dto.js';
import { DashboardService } from './dashboard.service.js';

@Controller('dashboard')
export class DashboardController {
  constructor(private readonly dashboard: DashboardService) {}

  @Get()
  @Answers('DashboardResponse', 'Traffic, nodes and domains, now and over a period')
  @Requires('read')
  read(@Query() query: DashboardQuery): Promise<DashboardResponse> {
    return this.dashboard.read(query);
  }
}
