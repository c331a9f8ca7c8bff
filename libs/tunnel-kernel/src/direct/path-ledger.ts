import type { Flow, FlowLedger } from '../flow-ledger.js';

export interface Carried {
  upload: number;
  download: number;
  connections: number;
}

/** The flows of one direct path, also counted in the agent's ledger: what they carry is reported to the server. */
export class PathLedger implements Pick<FlowLedger, 'open' | 'close'> {
  private readonly ledger: Pick<FlowLedger, 'open' | 'close'>;
  private readonly onEmpty: () => void;
  private readonly flows = new Set<Flow>();
  /** Totals of finished flows. */
  private readonly total: Carried = { upload: 0, download: 0, connections: 0 };
  private reported: Carried = { upload: 0, download: 0, connections: 0 };

  constructor(ledger: Pick<FlowLedger, 'open' | 'close'>, onEmpty: () => void) {
    this.ledger = ledger;
    this.onEmpty = onEmpty;
  }

  get size(): number {
    return this.flows.size;
  }

  open(...flow: Parameters<FlowLedger['open']>): Flow {
    const opened = this.ledger.open(...flow);
    this.flows.add(opened);
    this.total.connections += 1;
    return opened;
  }

  close(flow: Flow, end: Parameters<FlowLedger['close']>[1]): void {
    this.ledger.close(flow, end);
    if (!this.flows.delete(flow)) return;
    this.total.upload += flow.counter.upload;
    this.total.download += flow.counter.download;
    if (this.flows.size === 0) this.onEmpty();
  }

  /** What was carried since the last call; null: nothing. */
  take(): Carried | null {
    const { reported } = this;
    const now = { ...this.total };
    for (const { counter } of this.flows) {
      now.upload += counter.upload;
      now.download += counter.download;
    }
    this.reported = now;
    const upload = now.upload - reported.upload;
    const download = now.download - reported.download;
    const connections = now.connections - reported.connections;
    return upload + download + connections === 0 ? null : { upload, download, connections };
  }
}
