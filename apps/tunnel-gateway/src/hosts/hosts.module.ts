import { Module } from '@nestjs/common';
import { DomainsModule } from '../domains/domains.module.js';
import { HostColumns } from './host-columns.js';
import { HostHistory } from './host-history.js';
import { HostsController } from './hosts.controller.js';
import { HostsService } from './hosts.service.js';

@Module({
  imports: [DomainsModule],
  controllers: [HostsController],
  providers: [HostsService, HostColumns, HostHistory],
  exports: [HostsService],
})
export class HostsModule {}
