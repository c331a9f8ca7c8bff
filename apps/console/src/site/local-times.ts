import { formatTime } from '../shared/format/clock.js';

/** Moments in the reader's time zone, as the consoles show them, in place of the service's. */
export function localTimes(page: Document): void {
  for (const time of page.querySelectorAll('time')) {
    time.textContent = formatTime(time.dateTime).slice(0, -3);
  }
  const zone = page.querySelector('[data-time-zone]');
  if (zone !== null) zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
}
