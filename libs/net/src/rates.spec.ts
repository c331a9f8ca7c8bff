import { describe, expect, it } from 'vitest';
import { RateMeter, TokenBucket } from './index.js';

describe('TokenBucket', () => {
  it('gives its burst at once, then its rate', () => {
    const bucket = new TokenBucket(10, 3, 0);
    expect([1, 2, 3, 4].map(() => bucket.take(1, 0))).toEqual([true, true, true, false]);
    expect(bucket.take(1, 99)).toBe(false);
    expect(bucket.take(1, 100)).toBe(true);
    expect(bucket.take(4, 10_000)).toBe(false);
    expect(bucket.take(3, 10_000)).toBe(true);
  });

  it('says how long to wait for what was taken on credit', () => {
    const bucket = new TokenBucket(1000, 100, 0);
    expect(bucket.charge(100, 0)).toBe(0);
    expect(bucket.charge(500, 0)).toBe(500);
    expect(bucket.charge(0, 500)).toBe(0);
  });

  it('is not shaken by a clock that steps back', () => {
    const bucket = new TokenBucket(1000, 10, 1000);
    bucket.take(10, 1000);
    expect(bucket.take(1, 0)).toBe(false);
    expect(bucket.take(5, 5)).toBe(true);
  });

  it('refuses a rate that is none', () => {
    expect(() => new TokenBucket(0, 1, 0)).toThrow(RangeError);
    expect(() => new TokenBucket(1, Number.NaN, 0)).toThrow(RangeError);
  });
});

describe('RateMeter', () => {
  it('answers growth and rate between samples', () => {
    const meter = new RateMeter(0);
    expect(meter.sample(500, 500)).toBe(500);
    expect(meter.rate).toBe(1000);
    expect(meter.sample(500, 1500)).toBe(0);
    expect(meter.rate).toBe(0);
    expect(meter.sample(600, 1500)).toBe(100);
    expect(meter.rate).toBe(0);
  });
});
