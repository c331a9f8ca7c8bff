import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { collectWhenIdle } from './idle-collection.js';

const MIB = 1024 * 1024;

describe('collectWhenIdle', () => {
  let busy: number;
  let resident: number;
  let end: () => void;
  const collect = vi.fn(() => {
    resident = 100 * MIB;
  });

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    busy = 0;
    resident = 150 * MIB;
    collect.mockClear();
    end = collectWhenIdle({ busyShare: () => busy, residentBytes: () => resident, collect });
  });
  afterEach(() => {
    end();
    vi.useRealTimers();
  });

  it('collects once after the start, and not again while nothing grows', () => {
    vi.advanceTimersByTime(60_000);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('collects again after a burst, but not during it', () => {
    vi.advanceTimersByTime(60_000);
    busy = 0.4;
    resident = 200 * MIB;
    vi.advanceTimersByTime(60_000);
    expect(collect).toHaveBeenCalledTimes(1);
    busy = 0.01;
    vi.advanceTimersByTime(10_000);
    expect(collect).toHaveBeenCalledTimes(2);
  });

  it('collects small growth only when the last collection was five minutes ago', () => {
    vi.advanceTimersByTime(60_000);
    resident += 5 * MIB;
    vi.advanceTimersByTime(240_000);
    expect(collect).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(10_000);
    expect(collect).toHaveBeenCalledTimes(2);
  });

  it('does not collect again for less than 2 MiB', () => {
    vi.advanceTimersByTime(60_000);
    resident += 1.5 * MIB;
    vi.advanceTimersByTime(3_600_000);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('really collects in this process', async () => {
    const dropped = new WeakRef({ text: 'nobody holds this' });
    // A WeakRef holds its target until the end of the job that made or read it.
    await new Promise((resolve) => setImmediate(resolve));
    const stop = collectWhenIdle({ busyShare: () => 0, residentBytes: () => resident });
    vi.advanceTimersByTime(5_000);
    stop();
    expect(dropped.deref()).toBeUndefined();
  });
});
