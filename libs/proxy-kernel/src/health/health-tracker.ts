import type { CircuitChanged, HealthReport } from '../interfaces/kernel.js';
import { Circuits } from './circuits.js';
import { Measurements } from './measurements.js';
import type { ByteCounter } from '@gatehouse/net';
import { isTransportFailure } from './transport-failure.js';
import type { FailedDial } from './transport-failure.js';

export interface HealthTrackerEvents {
  circuit(change: CircuitChanged): void;
  /** The health of these nodes, as groups see it, has changed. */
  changed(tags: readonly string[]): void;
}

const UNKNOWN = { alive: true, delayMs: null };

/** The health of nodes, from measurements and from real flows. Outlives generations. */
export class HealthTracker {
  readonly #measurements = new Measurements();
  readonly #circuits: Circuits;
  readonly #changed: HealthTrackerEvents['changed'];
  /** Nodes of the present configuration; null before the first. */
  #tags: ReadonlySet<string> | null = null;

  constructor(now: () => number, events: HealthTrackerEvents) {
    this.#circuits = new Circuits(now, (change) => events.circuit(change));
    this.#changed = (tags) => events.changed(tags);
  }

  of(testUrl: string | undefined, tag: string): { alive: boolean; delayMs: number | null } {
    const health = this.#measurements.get(testUrl, tag) ?? UNKNOWN;
    return health.alive && this.#circuits.isOpen(tag) ? { alive: false, delayMs: health.delayMs } : health;
  }

  get anyHalfOpen(): boolean {
    return this.#circuits.anyHalfOpen;
  }

  halfOpen(tag: string): boolean {
    return this.#circuits.halfOpen(tag);
  }

  mayTry(tag: string): boolean {
    return this.#circuits.mayTry(tag);
  }

  claimTrial(tag: string): boolean {
    return this.#circuits.claimTrial(tag);
  }

  report(testUrl: string | null, report: HealthReport): void {
    const tags = this.#measurements.set(testUrl, report, (tag) => this.#tags?.has(tag) ?? true);
    for (const tag of tags) {
      const health = report[tag];
      if (health?.alive) this.#circuits.succeeded(tag, health.testedAt);
    }
    if (tags.length > 0) this.#changed(tags);
  }

  flowFailed(tag: string): void {
    if (this.#tags?.has(tag) && this.#circuits.failed(tag)) this.#changed([tag]);
  }

  flowSucceeded(tag: string): void {
    if (this.#circuits.succeeded(tag)) this.#changed([tag]);
  }

  /** A flow ended without a result for its node. */
  flowEnded(tag: string): void {
    this.#circuits.releaseTrial(tag);
  }

  /** Advances time; call about once a second. */
  settle(): void {
    const due = this.#circuits.settle();
    if (due.length > 0) this.#changed(due);
  }

  /** Drops nodes and test addresses that the configuration does not contain. */
  keepOnly(tags: ReadonlySet<string>, testUrls: ReadonlySet<string>): void {
    this.#tags = tags;
    this.#measurements.keepOnly(tags, testUrls);
    this.#circuits.keepOnly(tags);
  }
}

/** Reports the results of real flows. */
export class FlowWatch {
  readonly #health: HealthTracker;
  /** Open flows without a byte from the far end so far, and their nodes. */
  readonly #waiting = new Map<ByteCounter, string>();

  constructor(tracker: HealthTracker) {
    this.#health = tracker;
  }

  opened(flow: ByteCounter, tag: string): void {
    this.#waiting.set(flow, tag);
  }

  /**
   * A node counts as good once a byte has come back through it: with many protocols a connect succeeds without the
   * node's answer.
   */
  settle(): void {
    for (const [flow, tag] of this.#waiting) {
      if (flow.download === 0) continue;
      this.#waiting.delete(flow);
      this.#health.flowSucceeded(tag);
    }
  }

  ended(flow: ByteCounter, tag: string, dial: FailedDial): void {
    const unproven = this.#waiting.delete(flow);
    if (flow.download > 0) {
      if (unproven) this.#health.flowSucceeded(tag);
    } else if (isTransportFailure(dial)) this.#health.flowFailed(tag);
    else this.#health.flowEnded(tag);
  }
}
