import type { TargetAddress } from '../wire/messages.js';

/** How long a failed target is tried last. */
const REST_MS = 5000;

interface Candidate {
  target: TargetAddress;
  /** Smooth weighted round-robin: grows by the weight, drops by the sum when chosen. */
  credit: number;
  failedAt: number;
}

/** Weighted round-robin over targets; those that just failed come last. */
export class TargetPicker {
  private readonly candidates: Candidate[];
  private readonly now: () => number;

  constructor(targets: readonly TargetAddress[], now: () => number) {
    this.now = now;
    this.candidates = targets.map((target) => ({ target, credit: 0, failedAt: Number.NEGATIVE_INFINITY }));
  }

  /** All targets in the order to try them. */
  order(): TargetAddress[] {
    const [only] = this.candidates;
    if (only && this.candidates.length === 1) return [only.target];
    const now = this.now();
    const rested = this.candidates.filter(({ failedAt }) => now - failedAt >= REST_MS);
    const usable = rested.length > 0 ? rested : this.candidates;
    const total = usable.reduce((sum, { target }) => sum + target.weight, 0);
    for (const candidate of usable) candidate.credit += candidate.target.weight;
    const sorted = [...usable].sort((a, b) => b.credit - a.credit);
    if (sorted[0]) sorted[0].credit -= total;
    const resting = this.candidates.filter((candidate) => !usable.includes(candidate));
    return [...sorted, ...resting].map(({ target }) => target);
  }

  failed(target: TargetAddress): void {
    const candidate = this.candidates.find((known) => known.target === target);
    if (candidate) candidate.failedAt = this.now();
  }
}
