import { t } from '../messages/index.js';
import { two } from './clock.js';

export { formatDay, formatTime } from './clock.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Two units are enough for people: `3 d 4 h`, `12 s`, `480 ms`. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < SECOND) return t('time.milliseconds', { count: Math.round(ms) });
  if (ms < MINUTE) return t('time.seconds', { count: (ms / SECOND).toFixed(ms < 10 * SECOND ? 1 : 0) });
  if (ms < HOUR) return pair(ms, [MINUTE, 'time.minutes'], [SECOND, 'time.seconds']);
  if (ms < DAY) return pair(ms, [HOUR, 'time.hours'], [MINUTE, 'time.minutes']);
  return pair(ms, [DAY, 'time.days'], [HOUR, 'time.hours']);
}

type Unit = [ms: number, name: 'time.seconds' | 'time.minutes' | 'time.hours' | 'time.days'];

function pair(ms: number, [unit, name]: Unit, [lesser, lesserName]: Unit): string {
  const whole = t(name, { count: Math.floor(ms / unit) });
  const rest = Math.floor((ms % unit) / lesser);
  return rest > 0 ? `${whole} ${t(lesserName, { count: rest })}` : whole;
}

/** `4 min ago`, `in 3 d 4 h`; a dash for null. */
export function formatRelative(time: string | null | undefined, now = Date.now()): string {
  if (time === null || time === undefined) return '–';
  const difference = Date.parse(time) - now;
  if (Math.abs(difference) < 5 * SECOND) return t('time.now');
  const duration = formatDuration(Math.abs(difference)).replace(/\.\d/, '');
  return difference < 0 ? t('time.ago', { duration }) : t('time.in', { duration });
}

/** Of an axis: as short as the distance of its points allows. */
export function formatTick(time: number, stepMs: number): string {
  const date = new Date(time);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (stepMs < MINUTE) return `${clock}:${two(date.getSeconds())}`;
  return stepMs < DAY / 4 ? clock : `${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

/** A moment for `datetime-local`, in the browser's own time zone. */
export function toLocalField(time: string | null): string {
  if (time === null) return '';
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** @returns null for none */
export function fromLocalField(text: string): string | null {
  const date = new Date(text);
  return text === '' || Number.isNaN(date.getTime()) ? null : date.toISOString();
}
