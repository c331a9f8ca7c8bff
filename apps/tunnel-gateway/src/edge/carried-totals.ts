import type { FlowDelta } from '@gatehouse/tunnel-kernel';
import type { CarriedFigures, EdgeFigures } from '../common/edge-ipc.js';
import { nothingCarried } from '../common/edge-figures.js';

/** What this process carried since it started, from the counters that it collects for the database every second. */
export class CarriedTotals {
  private readonly byKind: EdgeFigures['carried'] = nothingCarried();

  add({ resource, connections, upload, download }: FlowDelta): void {
    const total: CarriedFigures = this.byKind[resource.kind];
    total.connections += connections;
    total.upload += upload;
    total.download += download;
  }

  totals(): EdgeFigures['carried'] {
    return structuredClone(this.byKind);
  }
}
