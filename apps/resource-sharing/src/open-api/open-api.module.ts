import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { EndpointSwitches } from './endpoint-switches.js';
import { OpenApiGuard } from './open-api.guard.js';

/** The guard of the open API. */
@Global()
@Module({
  providers: [EndpointSwitches, OpenApiGuard, { provide: APP_GUARD, useExisting: OpenApiGuard }],
  exports: [EndpointSwitches],
})
export class OpenApiModule {}
