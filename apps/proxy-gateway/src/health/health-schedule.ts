import { Schedules } from '@gatehouse/jobs';
import type { KeptSchedules, Schedule } from '@gatehouse/jobs';
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';

const QUEUE = 'speed-test';
const KEY = 'health';
/** A restart must not measure all nodes, but the first results should be there soon after the first start. */
const FIRST_MS = 20_000;
const MAX_JITTER_MS = 15_000;

/** Keeps one schedule that measures all nodes at the interval from the settings. */
@Injectable()
export class HealthSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private stopListening: () => void = () => undefined;
  private kept: KeptSchedules | undefined;

  constructor(
    private readonly schedules: Schedules,
    private readonly preferences: Preferences,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.stopListening = this.preferences.onChange(() => void this.kept?.look());
    // An existing schedule keeps the time of its next run; one with another interval is replaced.
    this.kept = await this.schedules.keep({ queue: QUEUE, owns: (key) => key === KEY, wanted: () => [this.wanted()] });
  }

  onModuleDestroy(): void {
    this.stopListening();
  }

  private wanted(): Schedule<typeof QUEUE> {
    const everyMs = this.preferences.get('health.interval_sec') * 1_000;
    const firstInMs = Math.min(FIRST_MS, everyMs);
    const jitterMs = Math.min(MAX_JITTER_MS, everyMs / 4);
    return { key: KEY, everyMs, firstInMs, jitterMs, payload: { trigger: 'schedule' } };
  }
}
