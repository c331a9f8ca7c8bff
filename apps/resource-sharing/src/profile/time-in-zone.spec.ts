import { expect, it } from 'vitest';
import { formatInZone } from './time-in-zone.js';

it.each([
  ['Asia/Shanghai', '2025-12-31T15:59:59.999Z', '2025-12-31T23:59:59+08:00'],
  ['Asia/Shanghai', '2025-12-31T16:00:00Z', '2026-01-01T00:00:00+08:00'],
  ['UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00+00:00'],
  ['America/New_York', '2026-07-01T04:05:06Z', '2026-07-01T00:05:06-04:00'],
  ['Asia/Kolkata', '2026-07-01T00:00:00Z', '2026-07-01T05:30:00+05:30'],
])('formats times of %s', (zone, at, text) => {
  expect(formatInZone(new Date(at), zone)).toBe(text);
  expect(new Date(text).getTime()).toBe(Math.floor(Date.parse(at) / 1000) * 1000);
});
