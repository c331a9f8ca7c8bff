import { describe, expect, it } from 'vitest';
import type { ResourceSharingSettings } from '../settings.js';
import { daysBetween, ServiceDays, shiftDate } from './service-days.js';

const daysIn = (timeZone: string): ServiceDays => new ServiceDays({ timeZone } as ResourceSharingSettings);
const at = (text: string): number => Date.parse(text);

describe('days of the service', () => {
  it('end at midnight in the zone, to the millisecond', () => {
    const days = daysIn('Asia/Shanghai');
    const midnight = at('2026-11-21T16:00:00Z');
    expect(days.at(midnight - 1)).toMatchObject({ date: '2026-11-21', endsAt: midnight });
    expect(days.at(midnight)).toMatchObject({ date: '2026-11-22', endsAt: midnight + 86_400_000 });
    expect(days.at(midnight - 1).date).toBe('2026-11-21');
  });

  it('have 23 and 25 hours when the clocks change', () => {
    const days = daysIn('Europe/Berlin');
    expect(days.at(at('2026-03-29T10:00:00Z')).endsAt).toBe(at('2026-03-29T22:00:00Z'));
    expect(days.at(at('2026-10-25T10:00:00Z')).endsAt).toBe(at('2026-10-25T23:00:00Z'));
  });

  it.each([
    ['Asia/Beirut', '2026-03-28T12:00:00Z', '2026-03-28', '2026-03-28T22:00:00Z', 'the next day starts at 01:00'],
    ['America/Sao_Paulo', '2018-02-17T12:00:00Z', '2018-02-17', '2018-02-18T03:00:00Z', '23:00 comes twice'],
    ['Pacific/Apia', '2011-12-29T20:00:00Z', '2011-12-29', '2011-12-30T10:00:00Z', 'the next date is left out'],
    ['Pacific/Kiritimati', '2026-06-01T09:59:59.999Z', '2026-06-01', '2026-06-01T10:00:00Z', '14 hours before UTC'],
    ['Pacific/Pago_Pago', '2026-06-01T11:00:00Z', '2026-06-01', '2026-06-02T11:00:00Z', '11 hours after UTC'],
  ])('in %s, a day of %s is %s and ends at %s: %s', (timeZone, time, date, endsAt) => {
    expect(daysIn(timeZone).at(at(time))).toMatchObject({ date, endsAt: at(endsAt) });
  });
});

describe('dates', () => {
  it('can be shifted and compared', () => {
    expect(shiftDate('2026-03-01', -1)).toBe('2026-02-28');
    expect(daysBetween('2026-01-01', '2027-01-01')).toBe(365);
    expect(daysBetween('2026-01-02', '2026-01-01')).toBe(-1);
  });

  it.each(['2026-02-29', '2026-13-01', '20260101', '2026-1-1', 'today', ''])('%s is not a date', (text) => {
    expect(shiftDate(text, 0)).toBeUndefined();
    expect(daysBetween('2026-01-01', text)).toBeUndefined();
  });
});
