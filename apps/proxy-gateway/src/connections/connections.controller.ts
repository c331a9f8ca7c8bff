import { Requires } from '@gatehouse/auth';
import { Answers, Fails } from '@gatehouse/platform';
import type { ConnectionListResponse, ConnectionsClosedResponse } from '@gatehouse/contracts';
import { Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { ConnectionFilter, ConnectionQuery } from './connection.dto.js';
import { ConnectionsService } from './connections.service.js';

@Controller('connections')
export class ConnectionsController {
  constructor(private readonly connections: ConnectionsService) {}

  @Get()
  @Answers('ConnectionListResponse', 'The open connections')
  @Fails('KERNEL_UNAVAILABLE')
  @Requires('read')
  list(@Query() query: ConnectionQuery): Promise<ConnectionListResponse> {
    return this.connections.list(query);
  }

  @Delete()
  @Answers('ConnectionsClosedResponse', 'Closes the connections that match the filter')
  @Fails('KERNEL_UNAVAILABLE')
  @Requires('write')
  closeMany(@Query() filter: ConnectionFilter): Promise<ConnectionsClosedResponse> {
    return this.connections.closeMany(filter);
  }

  @Delete(':id')
  @Answers('ConnectionsClosedResponse', 'Closes a connection')
  @Fails('KERNEL_UNAVAILABLE')
  @Requires('write')
  close(@Param('id') id: string): Promise<ConnectionsClosedResponse> {
    return this.connections.close(id);
  }
}
