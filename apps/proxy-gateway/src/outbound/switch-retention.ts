import { Injectable } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { GroupSwitches } from '../data/group-switches.js';

const DAY_MS = 86_400_000;

/** Deletes old switches of groups. */
@Injectable()
export class SwitchRetention {
  constructor(
    private readonly switches: GroupSwitches,
    private readonly preferences: Preferences,
  ) {}

  /** Returns how many entries were deleted. */
  sweep(now: number): Promise<number> {
    return this.switches.prune(new Date(now - this.preferences.get('traffic_stats.retention_days') * DAY_MS));
  }
}
