import { Requires } from '@gatehouse/auth';
import type { DashboardResponse } from '@gatehouse/contracts';
import { Controller, Get, Query } from '@nestjs/common';
import { DashboardQuery } from './dashboard.dto.js';
import { DashboardService } from './dashboard.service.js';

@Controller('dashboard')
export class DashboardController {
  constructor(private readonly dashboard: DashboardService) {}

  @Get()
  @Requires('read')
  read(@Query() query: DashboardQuery): Promise<DashboardResponse> {
    return this.dashboard.read(query);
  }
}
