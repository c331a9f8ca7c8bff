import { Requires } from '@gatehouse/auth';
import { Answers, Fails } from '@gatehouse/platform';
import type { ReloadResult, SystemStatus } from '@gatehouse/contracts';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { SystemService } from './system.service.js';

@Controller('system')
export class SystemController {
  constructor(private readonly system: SystemService) {}

  @Get('status')
  @Answers('SystemStatus', 'The state of the service, its kernel and its database')
  @Requires('read')
  status(): Promise<SystemStatus> {
    return this.system.status();
  }

  @Post('reload')
  @Answers('ReloadResult', 'Reloads the kernel')
  @Fails('UNPROCESSABLE', 'KERNEL_UNAVAILABLE')
  @HttpCode(200)
  @Requires('write')
  reload(): Promise<ReloadResult> {
    return this.system.reload();
  }
}
