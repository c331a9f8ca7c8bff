import { Global, Module } from '@nestjs/common';
import { EdgeLauncher } from './edge-launcher.js';
import { Edges } from './edges.service.js';

@Global()
@Module({
  providers: [Edges, { provide: EdgeLauncher, useFactory: () => new EdgeLauncher() }],
  exports: [Edges],
})
export class EdgeModule {}
