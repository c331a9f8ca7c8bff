import { Requires } from '@gatehouse/auth';
import type { ReloadResult, SystemStatus } from '@gatehouse/contracts';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { SystemService } from './system.service.js';

@Controller('system')
export class SystemController {
  constructor(private readonly system: SystemService) {}

  @Get('status')
  @Requires('read')
  status(): Promise<SystemStatus> {
    return this.system.status();
  }

  @Post('reload')
  @HttpCode(200)
  @Requires('write')
  reload(): Promise<ReloadResult> {
    return this.system.reload();
  }
}
