import { Html, markup } from './markup.js';

/** A moment as people of one time zone read it. */
export function timeIn(timeZone: string): (at: Date | null, none?: string) => Html {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return (at, none = 'never') =>
    at === null ? markup`${none}` : markup`<time datetime="${at.toISOString()}">${format.format(at)}</time>`;
}

const TWENTY_YEARS_MS = 20 * 365.25 * 86_400_000;

/** How long Premium lasts, in words; `time`: timeIn(). */
export function premiumText(until: Date | number | null, time: ReturnType<typeof timeIn>): Html {
  const end = until === null ? 0 : Number(until);
  if (end <= Date.now()) return markup`no`;
  return end - Date.now() > TWENTY_YEARS_MS ? markup`for ever` : markup`until ${time(new Date(end))}`;
}
