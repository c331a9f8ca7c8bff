import { Module } from '@nestjs/common';
import { AgentKeys } from './agent-keys.js';
import { ClientsController } from './clients.controller.js';
import { ClientsService } from './clients.service.js';

@Module({
  controllers: [ClientsController],
  providers: [ClientsService, AgentKeys],
  exports: [ClientsService, AgentKeys],
})
export class ClientsModule {}
