import { Unsayable } from './target.js';

/** The parts of a line of Surge, Loon or Quantumult X. */
export type LineParts = (string | undefined)[];

// oxlint-disable-next-line no-control-regex -- a value with a line break would become another line
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const PLAIN = /^[^\s,"'#;=/\\](?:[^,"'#;\\]*[^\s,"'#;\\])?$/;

/** A value as Surge and Loon read it, in quotes where it has to be. @throws Unsayable for quotes and control characters. */
export function quoted(value: string, field: string): string {
  if (CONTROLS.test(value) || value.includes('"')) throw new Unsayable(field);
  return PLAIN.test(value) ? value : `"${value}"`;
}

/** `key=value`; undefined without a value. */
export function pair(key: string, value: string | number | undefined, field = key): string | undefined {
  return value === undefined || value === '' ? undefined : `${key}=${quoted(String(value), field)}`;
}

export function flag(key: string, value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : `${key}=${value}`;
}

/** A flag that is only written where it is on. */
export function mark(key: string, value: boolean | undefined): string | undefined {
  return value === true ? `${key}=true` : undefined;
}

export function joinLine(parts: LineParts, separator: string): string {
  return parts.filter((part) => part !== undefined).join(separator);
}

/** A name that lines and rules can hold: without their separators, and not like a comment or a section. */
export function lineName(name: string): string {
  return name
    .replaceAll(/[,="|]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[\s#;[/!]+/, '')
    .trim();
}

/** Options of a stored node as texts; `takes` names those that the caller writes. @throws Unsayable for options that matter. */
export function storedText(options: Record<string, unknown>, key: string): string | undefined {
  const value = options[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Megabits per second without the unit. @throws Unsayable for other units. */
export function megabits(value: string | undefined, field: string): string | undefined {
  if (value === undefined) return undefined;
  const number = /^(\d+)(?:\s*mbps)?$/i.exec(value)?.[1];
  if (number === undefined) throw new Unsayable(field);
  return number;
}
