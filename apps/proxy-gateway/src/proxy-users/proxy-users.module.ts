import { Module } from '@nestjs/common';
import { KernelModule } from '../kernel-process/kernel.module.js';
import { ProxyUsersController } from './proxy-users.controller.js';
import { ProxyUsersQuery } from './proxy-users.query.js';
import { ProxyUsersService } from './proxy-users.service.js';
import { QuotaPeriods } from './quota-periods.js';
import { UserHistory } from './user-history.js';
import { UserUsages } from './user-usage.js';

@Module({
  imports: [KernelModule],
  controllers: [ProxyUsersController],
  providers: [ProxyUsersService, ProxyUsersQuery, UserHistory, UserUsages, QuotaPeriods],
})
export class ProxyUsersModule {}
