import type { ProbeOptions } from '@gatehouse/proxy-kernel';
import type { Preferences } from '../preferences/preferences.service.js';

/** The options for measuring, unless a group has its own. */
export function probeOptions(preferences: Preferences, signal?: AbortSignal): ProbeOptions {
  return {
    url: preferences.get('health.url'),
    expectedStatus: preferences.get('health.expected_status') || '100-599',
    timeoutMs: preferences.get('health.timeout_ms'),
    unified: preferences.get('health.unified'),
    ...(signal ? { signal } : {}),
  };
}
