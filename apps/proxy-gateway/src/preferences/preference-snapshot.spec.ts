import { describe, expect, it } from 'vitest';
import { PREFERENCE_KEYS, PREFERENCES, restartNeeded } from './preference-definitions.js';
import { parsePreference, PreferenceSnapshot, problemOf } from './preference-snapshot.js';

describe('preferences', () => {
  it('has a default that its own parser accepts for every key', () => {
    for (const key of PREFERENCE_KEYS) expect(problemOf(key, PREFERENCES[key].defaultText), key).toBeNull();
  });

  it('reads stored rows over the defaults, each in its own type', () => {
    const snapshot = new PreferenceSnapshot([
      { key: 'auth.enabled', value: 'false' },
      { key: 'auth.token_ttl_sec', value: '120' },
      { key: 'subscription.keep_ratio', value: '0.5' },
      { key: 'kernel.listen.mixed', value: '[::1]:7899' },
    ]);
    expect(snapshot.get('auth.enabled')).toBe(false);
    expect(snapshot.get('auth.token_ttl_sec')).toBe(120);
    expect(snapshot.get('subscription.keep_ratio')).toBe(0.5);
    expect(snapshot.get('kernel.listen.mixed')).toEqual({ address: '::1', port: 7899 });
    expect(snapshot.get('switch.close_connections')).toBe('none');
    expect(snapshot.texts()['auth.token_ttl_sec']).toBe('120');
    expect(Object.keys(snapshot.texts())).toHaveLength(PREFERENCE_KEYS.length);
  });

  it('keeps the default for rows that are unknown or invalid, and reports them', () => {
    const snapshot = new PreferenceSnapshot([
      { key: 'auth.enabled', value: 'no' },
      { key: 'nothing.like_this', value: '1' },
    ]);
    expect(snapshot.get('auth.enabled')).toBe(true);
    expect(snapshot.rejected.map((error) => error.key)).toEqual(['auth.enabled', 'nothing.like_this']);
  });

  it.each([
    ['auth.token_ttl_sec', '59'],
    ['auth.token_ttl_sec', '1e3'],
    ['auth.token_ttl_sec', ''],
    ['subscription.keep_ratio', '1.1'],
    ['health.url', 'file:///etc/passwd'],
    ['health.url', ''],
    ['health.expected_status', '99'],
    ['kernel.listen.mixed', '127.0.0.1:70000'],
    ['kernel.mode', 'clash'],
    ['subscription.user_agent', 'a\r\nHost: b'],
  ] as const)('refuses %s = %j', (key, value) => {
    expect(() => parsePreference(key, value)).toThrow(/must be/);
  });

  it.each([
    ['geo.country_url', ''],
    ['health.expected_status', '200-299/301'],
    ['kernel.listen.mixed', ':7890'],
  ] as const)('accepts %s = %j', (key, value) => {
    expect(problemOf(key, value)).toBeNull();
  });

  it('knows which settings need a restart', () => {
    const before = { 'kernel.mode': 'embedded', 'health.concurrency': '1' };
    expect(restartNeeded(before, { ...before, 'health.concurrency': '2' })).toEqual([]);
    expect(restartNeeded(before, { ...before, 'kernel.mode': 'mihomo' })).toEqual(['kernel.mode']);
  });

  it('reads several mirrors of one file', () => {
    expect(parsePreference('geo.country_url', ' https://a.example/x,https://b.example/y\nhttp://c.example ')).toEqual([
      'https://a.example/x',
      'https://b.example/y',
      'http://c.example',
    ]);
    expect(() => parsePreference('geo.country_url', 'https://a.example ftp://b.example')).toThrow(/http/);
    expect(() => parsePreference('geo.country_url', 'http://a '.repeat(11))).toThrow(/at most 10/);
  });
});
