import { Module } from '@nestjs/common';
import { HostHistory } from './host-history.js';
import { HostsController } from './hosts.controller.js';
import { HostsService } from './hosts.service.js';

@Module({ controllers: [HostsController], providers: [HostsService, HostHistory], exports: [HostsService] })
export class HostsModule {}
