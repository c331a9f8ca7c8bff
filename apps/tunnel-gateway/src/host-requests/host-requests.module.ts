import { Module } from '@nestjs/common';
import { HostReplays } from './host-replays.js';
import { HostRequestsController } from './host-requests.controller.js';
import { HostRequestsService } from './host-requests.service.js';

@Module({ controllers: [HostRequestsController], providers: [HostRequestsService, HostReplays] })
export class HostRequestsModule {}
