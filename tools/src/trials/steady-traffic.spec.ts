import { waitFor } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { SteadyTraffic } from './steady-traffic.js';

describe('SteadyTraffic', () => {
  it('distinguishes failures, and the longest time without an answer, from successes', async () => {
    let sent = 0;
    let works = true;
    const stream = new SteadyTraffic('test', 5, () => {
      sent += 1;
      return works ? Promise.resolve(true) : Promise.reject(new Error('refused'));
    });
    await waitFor(() => stream.isWell());
    const since = performance.now();
    expect(await stream.reportSince(since)).toMatchObject({ failed: 0, outageSeconds: 0 });
    works = false;
    const before = sent;
    await waitFor(() => sent >= before + 20 && !stream.isWell());
    works = true;
    await waitFor(() => stream.isWell());
    const report = await stream.reportSince(since);
    await stream.stop();
    expect(report.failed).toBeGreaterThanOrEqual(20);
    expect(report.requests).toBeGreaterThan(report.failed);
    expect(report.outageSeconds).toBeGreaterThan(0.09);
  });

  it('begins nothing while it is paused', async () => {
    let sent = 0;
    const stream = new SteadyTraffic('test', 2, () => {
      sent += 1;
      return Promise.resolve(true);
    });
    await waitFor(() => sent > 5);
    await stream.pause();
    const before = sent;
    const other = new SteadyTraffic('clock', 2, () => Promise.resolve(true));
    await waitFor(() => other.isWell());
    expect(sent).toBe(before);
    stream.resume();
    await waitFor(() => sent > before);
    await Promise.all([stream.stop(), other.stop()]);
  });

  it('waits for what is under way before it reports', async () => {
    const gate = Promise.withResolvers<boolean>();
    const since = performance.now();
    const stream = new SteadyTraffic('test', 5, () => gate.promise);
    const report = stream.reportSince(since);
    gate.resolve(true);
    expect(await report).toMatchObject({ failed: 0 });
    await stream.stop();
  });
});
