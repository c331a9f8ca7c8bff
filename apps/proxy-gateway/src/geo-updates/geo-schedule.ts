import { Schedules } from '@gatehouse/jobs';
import type { KeptSchedules, Schedule } from '@gatehouse/jobs';
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';

const QUEUE = 'geo-update';
const KEY = 'geo-update-auto';
const HOUR_MS = 3_600_000;
/** A service that has just started has more urgent work, and frequent restarts must not cause frequent downloads. */
export const FIRST_UPDATE_MS = 10 * 60_000;

/** Keeps the schedule of updates in line with the settings. */
@Injectable()
export class GeoSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private stopFollowing: () => void = () => undefined;
  private kept: KeptSchedules | undefined;

  constructor(
    private readonly schedules: Schedules,
    private readonly preferences: Preferences,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.stopFollowing = this.preferences.onChange(() => void this.kept?.look());
    this.kept = await this.schedules.keep({ queue: QUEUE, owns: (key) => key === KEY, wanted: () => this.wanted() });
  }

  onModuleDestroy(): void {
    this.stopFollowing();
  }

  private wanted(): Schedule<typeof QUEUE>[] {
    if (!this.preferences.get('geo.auto_update')) return [];
    const everyMs = this.preferences.get('geo.interval_hours') * HOUR_MS;
    const times = { everyMs, firstInMs: FIRST_UPDATE_MS, jitterMs: Math.min(everyMs / 4, HOUR_MS) };
    return [{ key: KEY, ...times, payload: { trigger: 'schedule' } }];
  }
}
