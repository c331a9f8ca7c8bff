import { Jobs } from '@gatehouse/jobs';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';

const QUEUE = 'speed-test';
const KEY = 'health';
/** Nodes are not measured because a service starts; soon after a first start, though, something should be known. */
const FIRST_MS = 20_000;
const MAX_JITTER_MS = 15_000;

/** One schedule for measuring all nodes again and again, as often as the setting says. */
@Injectable()
export class HealthSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Health');
  private intervalSec: number | null = null;
  private stopListening: (() => void) | undefined;

  constructor(
    private readonly jobs: Jobs,
    private readonly preferences: Preferences,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.intervalSec = this.preferences.get('health.interval_sec');
    this.stopListening = this.preferences.onChange(() => void this.follow());
    // One that exists keeps the time of its next run, and one of another interval takes on this one.
    await this.attempt(() => this.upsert(this.preferences.get('health.interval_sec')));
  }

  onModuleDestroy(): void {
    this.stopListening?.();
  }

  private async follow(): Promise<void> {
    const intervalSec = this.preferences.get('health.interval_sec');
    if (intervalSec === this.intervalSec) return;
    this.intervalSec = intervalSec;
    await this.attempt(async () => {
      // Otherwise the next run would keep the time that the longer interval gave it.
      await this.jobs.removeScheduler(QUEUE, KEY);
      await this.upsert(intervalSec);
    });
  }

  private async upsert(intervalSec: number): Promise<void> {
    const everyMs = intervalSec * 1_000;
    const firstInMs = Math.min(FIRST_MS, everyMs);
    const jitterMs = Math.min(MAX_JITTER_MS, everyMs / 4);
    await this.jobs.upsertScheduler(QUEUE, KEY, { everyMs, firstInMs, jitterMs }, { trigger: 'schedule' });
  }

  private async attempt(change: () => Promise<unknown>): Promise<void> {
    try {
      await change();
    } catch (error) {
      this.logger.error('The schedule of the health tests could not be changed; the next start does it', error);
    }
  }
}
