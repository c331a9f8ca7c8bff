import { describe, expect, it } from 'vitest';
import { bucketOf, BUCKETS, quantileMs } from './latency-histogram.js';

function histogramOf(latencies: readonly number[]): number[] {
  const buckets = Array.from({ length: BUCKETS }, () => 0);
  for (const latency of latencies) {
    const bucket = bucketOf(latency);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  return buckets;
}

describe('the latency histogram', () => {
  it('estimates quantiles to within a fifth, never too low', () => {
    for (const latency of [150, 999, 1_000, 12_345, 700_000, 60_000_000]) {
      const estimate = quantileMs(histogramOf([latency]), 0.95) * 1_000;
      expect(estimate).toBeGreaterThanOrEqual(latency * 0.999);
      expect(estimate).toBeLessThan(latency * 1.2);
    }
  });

  it('finds the 95th percentile of a hundred values', () => {
    const latencies = Array.from({ length: 100 }, (_, i) => (i < 94 ? 1_000 : 50_000));
    expect(quantileMs(histogramOf(latencies), 0.95)).toBeGreaterThanOrEqual(50);
    expect(quantileMs(histogramOf(latencies), 0.94)).toBeLessThan(1.2);
  });

  it('keeps the smallest and the largest value', () => {
    expect([bucketOf(0), bucketOf(100), bucketOf(1e12)]).toEqual([0, 0, BUCKETS - 1]);
    expect(quantileMs(histogramOf([]), 0.95)).toBe(0);
  });
});
