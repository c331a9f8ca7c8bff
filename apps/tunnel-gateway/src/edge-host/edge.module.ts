import { Module, type DynamicModule } from '@nestjs/common';
import { EdgeLauncher } from './edge-launcher.js';
import { EdgeMetrics } from './edge-metrics.js';
import { EdgeStarter } from './edge-starter.js';
import { Edges } from './edges.service.js';
import { Fleet } from './fleet.service.js';
import { RunningEdge } from './start-edge.js';

@Module({})
export class EdgeModule {
  /** `handedOver`: an edge that is running already. */
  static forRoot(handedOver?: RunningEdge): DynamicModule {
    return {
      module: EdgeModule,
      global: true,
      providers: [
        Edges,
        Fleet,
        EdgeStarter,
        EdgeMetrics,
        { provide: EdgeLauncher, useFactory: () => new EdgeLauncher() },
        ...(handedOver ? [{ provide: RunningEdge, useValue: handedOver }] : []),
      ],
      exports: [Edges, Fleet],
    };
  }
}
