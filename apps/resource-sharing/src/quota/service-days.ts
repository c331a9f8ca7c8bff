/// <reference lib="esnext.temporal" />
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

/** The next midnight is not always 24 hours after the last one. */
function dayOf(now: number, timeZone: string): ServiceDay & { startsAt: number } {
  const start = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).startOfDay();
  const end = start.add({ days: 1 }).startOfDay();
  return {
    date: start.toPlainDate().toString(),
    startsAt: start.epochMilliseconds,
    endsAt: end.epochMilliseconds,
  };
}

/** A date a number of days before (or after) another; undefined if the text is not a date of the form YYYY-MM-DD. */
export function shiftDate(date: string, days: number): string | undefined {
  const plain = parseDate(date);
  return plain?.add({ days }).toString();
}

/** The number of days from the first date to the second; undefined if either is not a date. */
export function daysBetween(first: string, second: string): number | undefined {
  const [from, to] = [parseDate(first), parseDate(second)];
  return from === undefined || to === undefined ? undefined : from.until(to, { largestUnit: 'day' }).days;
}

function parseDate(text: string): Temporal.PlainDate | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    // No such day.
    return undefined;
  }
}
