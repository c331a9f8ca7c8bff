import { randomBytes } from 'node:crypto';
import { createSecretBox } from '@gatehouse/persistence';
import type { DataSource } from 'typeorm';
import { afterEach, expect, it, vi } from 'vitest';
import { IdempotencyStore } from './idempotency-store.js';

afterEach(() => vi.useRealTimers());

/** Not the time-outs of files that run in this process, too. */
const INTERVALS: Parameters<typeof vi.useFakeTimers>[0] = { toFake: ['setInterval', 'clearInterval'] };
const claimed = { actor: 'api_key:1', key: 'k', hash: 'h', claim: '0b1c' };

it('the claim of a request is kept exactly as long as it runs', async () => {
  vi.useFakeTimers(INTERVALS);
  const query = vi.fn<(sql: string, parameters: unknown[]) => Promise<unknown[]>>(() => Promise.resolve([]));
  const store = new IdempotencyStore({ query } as unknown as DataSource, createSecretBox(randomBytes(32)));
  const work = Promise.withResolvers<string>();
  const held = store.hold(claimed, () => work.promise);
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(query.mock.calls.length).toBeGreaterThanOrEqual(60);
  expect(query.mock.calls[0]).toEqual([expect.stringContaining('SET created_at = now()'), ['api_key:1', 'k', '0b1c']]);
  work.resolve('done');
  expect(await held).toBe('done');
  query.mockClear();
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(query).not.toHaveBeenCalled();
});

it('the work continues if the claim cannot be kept', async () => {
  vi.useFakeTimers(INTERVALS);
  const query = vi.fn(() => Promise.reject(new Error('no database')));
  const store = new IdempotencyStore({ query } as unknown as DataSource, createSecretBox(randomBytes(32)));
  const work = Promise.withResolvers<string>();
  const held = store.hold(claimed, () => work.promise);
  await vi.advanceTimersByTimeAsync(60_000);
  work.resolve('done');
  expect(await held).toBe('done');
});
