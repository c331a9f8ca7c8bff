import type { NodeTestResult } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { DelayTests } from './delay-tests.js';

const result = (id: number, delay: number | null): NodeTestResult => ({
  id,
  ok: delay !== null,
  delay_ms: delay,
  http_status: null,
  test_url: '',
  timings: { dns_ms: null, connect_ms: null, tls_ms: null, handshake_ms: null, ttfb_ms: null },
  exit_ip: null,
  country: null,
  error: delay === null ? { code: 'TIMEOUT', message: 'No answer in time' } : null,
  tested_at: '2026-01-01T00:00:00Z',
});

describe('tests of several nodes', () => {
  it('show each result when it is there, also that of a test that could not be made', async () => {
    const tests = new DelayTests();
    const seen: string[] = [];
    for (const id of [1, 2, 3]) {
      tests.onChange(id, () => {
        const now = tests.of(id);
        seen.push(`${id} ${now?.state === 'done' ? (now.delayMs ?? now.message) : now?.state}`);
      });
    }
    const progress: number[] = [];
    const tally = await tests.run([1, 2, 3], {
      signal: new AbortController().signal,
      test: async (id) => {
        if (id === 3) throw new Error('The kernel is down');
        return result(id, id === 1 ? 42 : null);
      },
      onProgress: ({ tested }) => progress.push(tested),
    });
    expect(tally).toEqual({ total: 3, tested: 3, failed: 2 });
    expect(progress).toEqual([1, 2, 3]);
    expect(seen.filter((text) => text.startsWith('1'))).toEqual(['1 waiting', '1 testing', '1 42']);
    expect(seen.at(-1)).toBe('3 The kernel is down');
    expect(seen).toContain('2 No answer in time');
    tests.forget([1]);
    expect(tests.of(1)).toBeUndefined();
  });

  it('run a few at a time, and no further once they are stopped', async () => {
    const tests = new DelayTests();
    const stop = new AbortController();
    const ids = Array.from({ length: 40 }, (_, index) => index);
    const open: (() => void)[] = [];
    const running = tests.run(ids, {
      signal: stop.signal,
      test: (id) => new Promise((resolve) => open.push(() => resolve(result(id, 1)))),
    });
    expect(open.length).toBe(8);
    stop.abort();
    for (const answer of open) answer();
    expect(await running).toEqual({ total: 40, tested: 8, failed: 0 });
    expect(tests.of(39)).toBeUndefined();
    expect(tests.of(0)).toMatchObject({ state: 'done' });
  });
});
