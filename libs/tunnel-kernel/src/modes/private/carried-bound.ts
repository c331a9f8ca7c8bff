import type { FlowDelta } from '../../flow-ledger.js';

/** 100 Gbit/s: more than one direct path carries. */
const BYTES_PER_MS = 12_500_000;
const CONNECTIONS_PER_MS = 100;
/** A report may come late: what is not used stays for so long. */
const KEPT_MS = 60_000;
/** For what an agent counted before it could say that the path is open. */
const AT_FIRST_MS = 1_000;

type Carried = Pick<FlowDelta, 'upload' | 'download' | 'connections'>;

/**
 * What an agent may say that a direct path carried. Nobody but the agent and its visitor sees those bytes, so no more is
 * believed than a fast network could have carried in that time. Bytes are counted for each direction.
 */
export class CarriedBound {
  private updatedAt: number;
  private readonly left: Carried = allowance(AT_FIRST_MS);

  constructor(now: number) {
    this.updatedAt = now;
  }

  /** As much of the report as is possible. Times are in milliseconds. */
  believe(report: Carried, now: number): Carried {
    // A clock that was set back gives nothing and takes nothing.
    const more = allowance(Math.min(KEPT_MS, Math.max(0, now - this.updatedAt)));
    const most = allowance(KEPT_MS);
    this.updatedAt = now;
    const believed = { upload: 0, download: 0, connections: 0 };
    for (const field of ['upload', 'download', 'connections'] as const) {
      const left = Math.min(most[field], this.left[field] + more[field]);
      believed[field] = Math.min(report[field], left);
      this.left[field] = left - believed[field];
    }
    return believed;
  }
}

function allowance(ms: number): Carried {
  return { upload: ms * BYTES_PER_MS, download: ms * BYTES_PER_MS, connections: ms * CONNECTIONS_PER_MS };
}
