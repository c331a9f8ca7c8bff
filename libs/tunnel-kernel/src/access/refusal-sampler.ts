import { resourceKey, type ResourceRef } from '../resource.js';
import type { AdmissionRefusal } from './gate.js';
import type { IpDenial } from './ip-rules.js';

/** Visitors of one resource that were refused for one reason. */
export interface DeniedVisitors {
  resource: ResourceRef;
  clientId: number;
  reason: AdmissionRefusal;
  /** Address of the last one. */
  address: string;
  /** The rule that refused the last one; null if it was not a rule. */
  rule: IpDenial | null;
  /** Number of refusals since the last report about this resource and reason. */
  count: number;
}

const EVERY_MS = 10_000;
const MAX_SAMPLES = 4096;

interface Sample {
  reportedAt: number;
  unreported: number;
}

/**
 * Reports one refusal in ten seconds for each resource and reason, with the number of refusals since the last report.
 */
export class RefusalSampler {
  private readonly now: () => number;
  private readonly samples = new Map<string, Sample>();

  constructor(now: () => number) {
    this.now = now;
  }

  /** Number of refusals to report; 0: do not report now. */
  count(resource: ResourceRef, reason: string): number {
    const key = `${resourceKey(resource)}:${reason}`;
    const now = this.now();
    const sample = this.samples.get(key) ?? { reportedAt: -Infinity, unreported: 0 };
    sample.unreported += 1;
    // The entry with the oldest report comes first, and is evicted.
    this.samples.delete(key);
    this.samples.set(key, sample);
    const [oldest] = this.samples.keys();
    if (this.samples.size > MAX_SAMPLES && oldest !== undefined) this.samples.delete(oldest);
    if (now - sample.reportedAt < EVERY_MS) return 0;
    const { unreported } = sample;
    this.samples.set(key, { reportedAt: now, unreported: 0 });
    return unreported;
  }
}
