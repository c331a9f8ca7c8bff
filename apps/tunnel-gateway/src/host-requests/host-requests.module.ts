import { Module } from '@nestjs/common';
import { HostRequestsController } from './host-requests.controller.js';
import { HostRequestsService } from './host-requests.service.js';

@Module({ controllers: [HostRequestsController], providers: [HostRequestsService] })
export class HostRequestsModule {}
