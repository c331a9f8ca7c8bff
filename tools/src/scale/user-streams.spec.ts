import { waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { UserStreams } from './user-streams.js';

describe('UserStreams', () => {
  it('distinguishes who is cut by a fault from who is refused after it', async () => {
    const streams = new UserStreams();
    const there = Promise.withResolvers<void>();
    let came = 0;
    streams.add('visitors', 'a stream', 5, async () => {
      came += 1;
      await there.promise;
    });
    await waitFor(() => came >= 3);
    const since = performance.now();
    const before = came;
    await waitFor(() => came >= before + 2);
    there.reject(new Error('the edge is gone'));
    const { visitors } = await streams.since(since);
    await streams.stop();
    expect(visitors.cut).toBe(before);
    expect(visitors.failed).toBe(visitors.done);
    expect(visitors.failed).toBeGreaterThanOrEqual(2);
  });

  it('says when the last one came who failed', async () => {
    const streams = new UserStreams();
    let works = true;
    streams.add('proxied', 'a stream', 5, () => (works ? Promise.resolve() : Promise.reject(new Error('refused'))));
    await waitFor(() => streams.isWell());
    const since = performance.now();
    works = false;
    await waitFor(() => !streams.isWell());
    works = true;
    await waitFor(() => streams.isWell());
    const { proxied, visitors } = await streams.since(since);
    await streams.stop();
    expect(proxied.failed).toBeGreaterThan(0);
    expect(proxied.done).toBeGreaterThan(proxied.failed);
    expect(proxied.lastFailedSeconds).toBeGreaterThan(0);
    expect(visitors).toEqual({ done: 0, failed: 0, slowestSeconds: 0, lastFailedSeconds: 0, cut: 0 });
    expect(streams.failures[0]).toContain('a stream: Error: refused');
  });
});
