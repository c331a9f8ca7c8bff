import { Injectable } from '@nestjs/common';
import { ResourceSharingSettings } from '../settings.js';

export interface ServiceDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** Milliseconds since the epoch of the first moment of the next day. */
  readonly endsAt: number;
}

/** The days of the service in its time zone, by the clock of this process; each is computed once. */
@Injectable()
export class ServiceDays {
  private readonly timeZone: string;
  private current: ServiceDay & { readonly startsAt: number };

  constructor({ timeZone }: ResourceSharingSettings) {
    this.timeZone = timeZone;
    this.current = dayOf(Date.now(), timeZone);
  }

  /** The day of a time, by default the current one. */
  at(now = Date.now()): ServiceDay {
    if (now >= this.current.endsAt || now < this.current.startsAt) this.current = dayOf(now, this.timeZone);
    return this.current;
  }
}

const HOUR_MS = 3_600_000;
/** Local midnight is at most 14 hours before that of UTC and at most 12 after it. */
const FURTHEST_MIDNIGHT_MS = 16 * HOUR_MS;

/** Day by day, since the next midnight is not always 24 hours after the last one. Not with Temporal: Node 24 has none. */
function dayOf(now: number, timeZone: string): ServiceDay & { startsAt: number } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const dateAt = (time: number): string => {
    const [month, day, year] = format.format(time).split('/');
    return `${year}-${month}-${day}`;
  };
  const date = dateAt(now);
  return {
    date,
    startsAt: firstTime(now - 2 * FURTHEST_MIDNIGHT_MS, now, (time) => dateAt(time) >= date),
    endsAt: firstTime(now, now + 2 * FURTHEST_MIDNIGHT_MS, (time) => dateAt(time) > date),
  };
}

/** The first millisecond after `before`, up to `holds`, at which the condition holds; from there on it does. */
function firstTime(before: number, holds: number, condition: (time: number) => boolean): number {
  let [low, high] = [before, holds];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (condition(middle)) high = middle;
    else low = middle;
  }
  return high;
}

const DAY_MS = 24 * HOUR_MS;

/** A date a number of days before (or after) another; undefined if the text is not a date of the form YYYY-MM-DD. */
export function shiftDate(date: string, days: number): string | undefined {
  const start = parseDate(date);
  return start === undefined ? undefined : dateOf(start + days * DAY_MS);
}

/** The number of days from the first date to the second; undefined if either is not a date. */
export function daysBetween(first: string, second: string): number | undefined {
  const [from, to] = [parseDate(first), parseDate(second)];
  return from === undefined || to === undefined ? undefined : (to - from) / DAY_MS;
}

/** Milliseconds since the epoch at the start of a date in UTC. */
function parseDate(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const time = Date.parse(`${text}T00:00:00Z`);
  // Some days that do not exist are read as days of the next month.
  return !Number.isNaN(time) && dateOf(time) === text ? time : undefined;
}

function dateOf(time: number): string {
  return new Date(time).toISOString().replace(/T.*/, '');
}
