import type { SpeedTestPayload, SpeedTestProgress } from '@gatehouse/contracts';
import { measureAll } from '@gatehouse/proxy-kernel';
import type { ProbeOptions, ProbeResult } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { GroupTestTargets } from '../outbound/group-test-targets.js';
import { Preferences } from '../preferences/preferences.service.js';
import { MeasurementStore } from '../measuring/measurement.store.js';
import type { MeasuredWith, Measurement } from '../measuring/measurement.store.js';
import { GENERAL_URL } from '../data/node-health.entity.js';
import { NodeTester } from '../measuring/node-tester.js';
import type { NodeTarget } from '../measuring/node-tester.js';
import { ProbeTargets } from '../measuring/probe-targets.js';
import { probeOptions } from '../measuring/probe-options.js';

/** Results are stored in batches of this size, or after this time: groups must follow within a second. */
const BATCH = 200;
const FLUSH_MS = 500;
const PER_ADDRESS = 8;
/** The schedule skips nodes that were measured within this part of the interval. */
const FRESH_SHARE = 0.5;

/** The job that a run belongs to. */
export interface SpeedTestRun {
  /** Stored with each measurement. */
  jobId: string;
  /** Ends the run; what was measured by then is kept. */
  signal: AbortSignal;
  progress(progress: SpeedTestProgress): Promise<void>;
}

/** Measures many nodes in a sliding window and stores the results as they come. */
@Injectable()
export class RunSpeedTest {
  constructor(
    private readonly targets: ProbeTargets,
    private readonly tester: NodeTester,
    private readonly store: MeasurementStore,
    private readonly groups: GroupTestTargets,
    private readonly preferences: Preferences,
  ) {}

  /** Rejects with the signal's reason when it is aborted. `tally` always shows the current progress. */
  async run({ trigger, nodeIds }: SpeedTestPayload, run: SpeedTestRun, tally: SpeedTestProgress): Promise<void> {
    const { targets, skipped } = await this.targets.all(nodeIds);
    const due = trigger === 'schedule' ? await this.withoutFresh(targets) : targets;
    tally.total = due.length;
    tally.skipped = skipped.length;
    tally.concurrency = this.preferences.get('health.concurrency');
    const count = ({ ok }: ProbeResult): void => {
      tally.tested += 1;
      if (ok) tally.ok += 1;
      else tally.failed += 1;
    };
    const options = probeOptions(this.preferences, run.signal);
    await this.measure(due, options, { testUrl: GENERAL_URL, jobId: run.jobId }, async (result) => {
      if (result) count(result);
      else await run.progress({ ...tally });
    });
    if (nodeIds === undefined) await this.measureForGroups(targets, run, trigger);
  }

  /** Calls `onProgress` with each result, and without one whenever results were stored. */
  private async measure(
    targets: readonly NodeTarget[],
    options: ProbeOptions,
    kind: MeasuredWith,
    onProgress: (result: ProbeResult | null) => void | Promise<void>,
  ): Promise<void> {
    const batch = new MeasurementBatch(async (measurements) => {
      await this.store.record(measurements, kind);
      await onProgress(null);
    });
    await onProgress(null);
    try {
      await measureAll(this.tester, targets, {
        ...options,
        concurrency: this.preferences.get('health.concurrency'),
        perAddress: PER_ADDRESS,
        onResult: ({ id }, result) => {
          void onProgress(result);
          return batch.add({ nodeId: id, result });
        },
      });
    } finally {
      await batch.close();
    }
  }

  /** Measures members with the groups' own test addresses, which those groups decide by. */
  private async measureForGroups(
    targets: readonly NodeTarget[],
    run: SpeedTestRun,
    trigger: SpeedTestPayload['trigger'],
  ): Promise<void> {
    const general = probeOptions(this.preferences, run.signal);
    const groups = await this.groups.list();
    await this.store.keepOnly(groups.map(({ testUrl }) => testUrl));
    for (const { testUrl, expectedStatus, nodeIds } of groups) {
      const members = new Set(nodeIds);
      const wanted = targets.filter(({ id }) => members.has(id));
      const due = trigger === 'schedule' ? await this.withoutFresh(wanted, testUrl) : wanted;
      const options = { ...general, url: testUrl, expectedStatus: expectedStatus || general.expectedStatus };
      await this.measure(due, options, { testUrl, jobId: run.jobId }, () => undefined);
    }
  }

  private async withoutFresh(targets: readonly NodeTarget[], testUrl = GENERAL_URL): Promise<NodeTarget[]> {
    const seconds = this.preferences.get('health.interval_sec') * FRESH_SHARE;
    const fresh = await this.store.fresh(testUrl, seconds);
    return targets.filter(({ id }) => !fresh.has(id));
  }
}

/** Collects measurements and stores them in batches, one batch at a time. */
class MeasurementBatch {
  readonly #store: (measurements: Measurement[]) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #waiting: Measurement[] = [];
  #storing: Promise<void> = Promise.resolve();

  constructor(store: (measurements: Measurement[]) => Promise<void>) {
    this.#store = store;
    // The next `add` or `close` sees the failure, since it awaits the same promise.
    this.#timer = setInterval(() => void this.#flush().catch(() => undefined), FLUSH_MS);
  }

  /** Waits while a full batch is stored, so that the window cannot run ahead of the database. */
  async add(measurement: Measurement): Promise<void> {
    this.#waiting.push(measurement);
    if (this.#waiting.length >= BATCH) await this.#flush();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  #flush(): Promise<void> {
    const measurements = this.#waiting.splice(0);
    if (measurements.length > 0) this.#storing = this.#storing.then(() => this.#store(measurements));
    return this.#storing;
  }
}
