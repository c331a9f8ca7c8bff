import type { HealthCheckConfig } from '../config.js';

export type HealthState = 'up' | 'down' | 'unknown';

/** `reason`: why a check failed, as `TargetCheckState`, or `status` for another one than expected. Null: it did not. */
export interface CheckResult {
  reason: string | null;
  /** Of an answer in HTTP; null: there was none. */
  status: number | null;
}

/** What checks found out about one target. Visitors are sent to it unless it is `down`. */
export class TargetHealth {
  state: HealthState = 'unknown';
  /** Of the last check. Null: there was none since its agent is connected. */
  last: CheckResult | null = null;
  /** Milliseconds since the epoch; null: there was none. */
  checkedAt: number | null = null;
  /** When it came into this state; null: from the beginning. */
  since: number | null = null;
  /** Checks in succession that contradict the state. */
  private against = 0;

  /** Returns whether the state changed. */
  record(result: CheckResult, at: number, { healthyThreshold, unhealthyThreshold }: Thresholds): boolean {
    this.last = result;
    this.checkedAt = at;
    const found: HealthState = result.reason === null ? 'up' : 'down';
    if (found === this.state) {
      this.against = 0;
      return false;
    }
    this.against += 1;
    const needed = this.state === 'unknown' ? firstNeeded(result, unhealthyThreshold) : undefined;
    if (this.against < (needed ?? (found === 'up' ? healthyThreshold : unhealthyThreshold))) return false;
    this.state = found;
    this.since = at;
    this.against = 0;
    return true;
  }

  /** Its agent is gone: nobody can say how it is. */
  forget(): void {
    this.state = 'unknown';
    this.last = null;
    this.against = 0;
    this.since = null;
  }
}

type Thresholds = Pick<HealthCheckConfig, 'healthyThreshold' | 'unhealthyThreshold'>;

/** What is known at once is believed at once. A timeout may be the fault of an agent that has just come. */
function firstNeeded({ reason }: CheckResult, unhealthyThreshold: number): number {
  return reason === 'timeout' ? unhealthyThreshold : 1;
}
