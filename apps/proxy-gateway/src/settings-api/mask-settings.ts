import type { SettingsView } from '@gatehouse/contracts';
import { MASK, maskUrl } from '../data/mask-secrets.js';
import { isPreferenceKey, PREFERENCES, SECRET_PREFERENCES } from '../preferences/preference-definitions.js';

/**
 * The settings for callers that may only read: addresses that users set may contain credentials, the defaults do not.
 */
export function maskSettings(texts: Readonly<SettingsView>): SettingsView {
  const entries = Object.entries(texts).map(([key, value]) => [key, maskSetting(key, value)]);
  return Object.fromEntries(entries) as SettingsView;
}

function maskSetting(key: string, value: string): string {
  if (SECRET_PREFERENCES.has(key) && value !== '') return MASK;
  if (!isPreferenceKey(key) || value === PREFERENCES[key].defaultText || !value.includes('://')) return value;
  return value
    .split(/[\s,]+/)
    .map(maskUrl)
    .join(' ');
}
