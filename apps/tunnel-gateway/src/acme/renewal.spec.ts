import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backOff, expiresSoon, renewalId, renewalTime, timeInWindow } from './renewal.js';

const DAY = 86_400_000;

describe('the time of renewal', () => {
  it('comes when a third of the lifetime is left, or a little earlier', () => {
    const lifetime = { notBefore: 0, notAfter: 90 * DAY };
    expect(renewalTime(lifetime, 0)).toBe(60 * DAY);
    expect(renewalTime(lifetime, 1)).toBe(56.25 * DAY);
    const short = { notBefore: 0, notAfter: 6 * DAY };
    expect(renewalTime(short, 0)).toBe(4 * DAY);
  });

  it('moves back after failures, from a minute to a day', () => {
    expect([1, 2, 3, 12, 99, 2000].map((failures) => backOff(failures, 1) / 60_000)).toEqual([
      1, 2, 4, 1440, 1440, 1440,
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const wait = backOff(failures, random);
        expect(wait).toBeGreaterThanOrEqual(54_000);
        expect(wait).toBeLessThanOrEqual(DAY);
      }),
    );
  });

  it('causes a warning when it is long past', () => {
    const lifetime = { notBefore: 0, notAfter: 90 * DAY };
    expect(expiresSoon(lifetime, 75 * DAY)).toBe(false);
    expect(expiresSoon(lifetime, 76.5 * DAY)).toBe(true);
    expect(expiresSoon({ notBefore: 0, notAfter: 8 * DAY }, 5.9 * DAY)).toBe(false);
    expect(expiresSoon({ notBefore: 0, notAfter: 8 * DAY }, 6.1 * DAY)).toBe(true);
  });
});

describe('the renewal window of an authority', () => {
  const window = { start: '2026-01-01T00:00:00Z', end: '2026-01-03T00:00:00Z' };
  const [start, end] = [Date.parse(window.start), Date.parse(window.end)];

  it('moves a later renewal into the window', () => {
    expect(timeInWindow(window, end + DAY, 0.5)).toBe(start + DAY);
    expect(timeInWindow(window, end, 0.5)).toBeNull();
    expect(timeInWindow(window, start - DAY, 0.5)).toBeNull();
  });

  it.each([null, {}, { start: 'x', end: 'y' }, { start: window.end, end: window.start }])(
    '%j is not a window',
    (value) => expect(timeInWindow(value, end + DAY, 0.5)).toBeNull(),
  );

  it('uses the certificate id from the example in RFC 9773', () => {
    expect(renewalId(new X509Certificate(RFC_9773))).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
  });
});

/** Appendix A of RFC 9773. */
const RFC_9773 = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`;
