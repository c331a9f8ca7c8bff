import { AppError } from '@gatehouse/platform';
import { MAX_PRIORITY } from '../rule-order.js';
import type { RuleBody } from '../rule.dto.js';

/** One entry of an import: the rule and its remarks. */
export interface RuleEntry {
  body: RuleBody;
  enabled?: boolean | undefined;
  note?: string | null | undefined;
  priority?: number | undefined;
  afterProfile?: boolean | undefined;
}

const MAX_TEXT = 2_048;
const MAX_TARGET = 256;
const MAX_NOTE = 1_000;
const FIELDS = new Set([
  'raw',
  'type',
  'payload',
  'target',
  'no_resolve',
  'src',
  'enabled',
  'note',
  'priority',
  'after_profile',
]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads an object in the form of `POST /rules`, or a rule line. Written without a validation library, because up to a
 * hundred thousand entries come at once and each bad one needs its own error.
 * @throws AppError INVALID_ARGUMENT.
 */
export function readRuleObject(value: unknown): RuleEntry {
  if (typeof value === 'string') return { body: { raw: checked('raw', value, MAX_TEXT) } };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused('must be an object or a line');
  const fields = value as Fields;
  const unknown = Object.keys(fields).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw refused(`${unknown.slice(0, 80)}: is not a known field`);
  const note = fields['note'] === null ? null : text(fields, 'note', MAX_NOTE);
  return {
    body: bodyOf(fields),
    enabled: flag(fields, 'enabled'),
    note,
    priority: priorityOf(fields['priority']),
    afterProfile: flag(fields, 'after_profile'),
  };
}

function bodyOf(fields: Fields): RuleBody {
  const body: RuleBody = {};
  const raw = text(fields, 'raw', MAX_TEXT);
  const type = text(fields, 'type', 32);
  const payload = text(fields, 'payload', MAX_TEXT);
  const target = text(fields, 'target', MAX_TARGET);
  const noResolve = flag(fields, 'no_resolve');
  const src = flag(fields, 'src');
  if (raw !== undefined) body.raw = raw;
  if (type !== undefined) body.type = type.trim().toUpperCase();
  if (payload !== undefined) body.payload = payload;
  if (target !== undefined) body.target = target;
  if (noResolve !== undefined) body.no_resolve = noResolve;
  if (src !== undefined) body.src = src;
  return body;
}

function text(fields: Fields, name: string, max: number): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw refused(`${name}: must be a string`);
  return name === 'note' ? withoutNul(name, value, max) : checked(name, value, max);
}

function checked(name: string, value: string, max: number): string {
  if (/\p{Cc}/u.test(value)) throw refused(`${name}: must not contain control characters`);
  return withoutNul(name, value, max);
}

function withoutNul(name: string, value: string, max: number): string {
  if (value.length > max) throw refused(`${name}: must be at most ${max} characters`);
  if (value.includes('\0')) throw refused(`${name}: must not contain NUL characters`);
  return value;
}

function flag(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (value !== undefined && typeof value !== 'boolean') throw refused(`${name}: must be true or false`);
  return value;
}

function priorityOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MAX_PRIORITY) return value;
  throw refused(`priority: must be a whole number of at most ${MAX_PRIORITY}`);
}

function refused(message: string): AppError {
  return new AppError('INVALID_ARGUMENT', message);
}
