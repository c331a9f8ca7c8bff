import { describe, expect, it } from 'vitest';
import { delayClass, formatBytes, formatPercent, formatRate } from './amounts.js';
import { safeLink, splitLines, splitWords } from './links.js';
import { formatDuration, formatRelative, formatTime } from './times.js';

describe('amounts', () => {
  it.each([
    [0, '0\u00a0B'],
    [1023, '1023\u00a0B'],
    [1024, '1.0\u00a0KiB'],
    [1023.99 * 1024, '1.0\u00a0MiB'],
    [150 * 1024, '150\u00a0KiB'],
    [-2048, '-2.0\u00a0KiB'],
    [5e15, '4.4\u00a0PiB'],
    [null, '–'],
    [NaN, '–'],
  ])('%s bytes are %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it('keep the dash of what is not known', () => {
    expect([
      formatRate(null),
      formatRate(2048),
      formatPercent(null),
      formatPercent(0),
      formatPercent(0.999),
      formatPercent(1),
    ]).toEqual(['–', '2.0\u00a0KiB/s', '–', '0\u00a0%', '99.9\u00a0%', '100\u00a0%']);
  });

  it('name delays', () => {
    expect([
      delayClass(true, 50),
      delayClass(true, 300),
      delayClass(true, 900),
      delayClass(false, null),
      delayClass(null, null),
    ]).toEqual(['good', 'fair', 'slow', 'dead', 'none']);
  });
});

describe('times', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_500, '1.5 s'],
    [59_000, '59 s'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [90_000_000, '1 d 1 h'],
    [null, '–'],
  ])('%s milliseconds are %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('are relative to now', () => {
    const now = Date.parse('2026-05-01T12:00:00Z');
    expect(formatRelative('2026-05-01T11:59:58Z', now)).toBe('now');
    expect(formatRelative('2026-05-01T11:59:51Z', now)).toBe('9 s ago');
    expect(formatRelative('2026-05-02T13:00:00Z', now)).toBe('in 1 d 1 h');
    expect([formatRelative(null, now), formatTime(null), formatTime('not a time')]).toEqual(['–', '–', 'not a time']);
    expect(formatTime('2026-05-01T12:00:00Z')).toMatch(/^2026-0[45]-\d\d \d\d:00:00$/);
  });
});

describe('links of providers', () => {
  it.each([
    ['https://a.example/b', 'https://a.example/b'],
    ['HTTP://a.example', 'http://a.example/'],
    ['javascript:alert(1)', null],
    [' javascript:alert(1)', null],
    ['java\nscript:alert(1)', null],
    ['data:text/html,<script>', null],
    ['//a.example', null],
    ['', null],
    [null, null],
  ])('%j leads to %j', (address, expected) => {
    expect(safeLink(address)).toBe(expected);
  });

  it('lists are split where people would', () => {
    expect(splitWords(' DE, JP\nUS ')).toEqual(['DE', 'JP', 'US']);
    expect(splitLines('My group\nn12, DIRECT\n\n')).toEqual(['My group', 'n12', 'DIRECT']);
  });
});
