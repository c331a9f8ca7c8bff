import { language } from '../messages/index.js';

/** A number stays in one line with its unit. */
const SPACE = '\u00a0';
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Bytes for people, in binary units; a dash for what is not known. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return '–';
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${bytes < 0 ? '-' : ''}${value.toFixed(digits)}${SPACE}${UNITS[unit]}`;
}

/** Bytes per second. */
export function formatRate(bytesPerSecond: number | null | undefined): string {
  const text = formatBytes(bytesPerSecond);
  return text === '–' ? text : `${text}/s`;
}

export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? '–' : count.toLocaleString(language());
}

export function formatPercent(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined) return '–';
  const percent = ratio * 100;
  return `${percent > 0 && percent < 99.95 ? percent.toFixed(1) : percent.toFixed(0)}${SPACE}%`;
}

/** A delay in words that styles know. */
export function delayClass(alive: boolean | null, delayMs: number | null): 'good' | 'fair' | 'slow' | 'dead' | 'none' {
  if (alive === false) return 'dead';
  if (alive === null || delayMs === null) return 'none';
  if (delayMs < 200) return 'good';
  return delayMs < 600 ? 'fair' : 'slow';
}
