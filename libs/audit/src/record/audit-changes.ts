import type { AuditChange, AuditValue } from '@gatehouse/contracts';
import { isSecretField, MASK, maskUrl, redactText } from '@gatehouse/platform';
import { MAX_CHANGES, MAX_VALUE } from '../chain/audit-entry.js';
import type { AuditRules, Fields } from './audit-rules.js';

/** Decides which fields are secret. */
export type Secrecy = Pick<AuditRules, 'hides' | 'shows'>;

const MAX_DEPTH = 6;

/** Every field that differs. Null stands for a resource that did not exist before, or does not afterwards. */
export function changesBetween(before: Fields | null, after: Fields | null, secrecy: Secrecy): AuditChange[] {
  const old = flatten(before ?? {}, secrecy);
  const fresh = flatten(after ?? {}, secrecy);
  const changes: AuditChange[] = [];
  for (const field of new Set([...old.keys(), ...fresh.keys()])) {
    const from = old.get(field) ?? null;
    const to = fresh.get(field) ?? null;
    if (from === to) continue;
    changes.push({ field, before: shown(field, from, secrecy), after: shown(field, to, secrecy) });
    if (changes.length === MAX_CHANGES) break;
  }
  return changes;
}

/** What an operation reports about its result: numbers and flags, no texts. */
export function resultOf(answer: unknown): AuditChange[] {
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.entries(answer)
    .filter(([field, value]) => (typeof value === 'number' || typeof value === 'boolean') && !/(^|_)id$/.test(field))
    .slice(0, MAX_CHANGES)
    .map(([field, value]) => ({ field, before: null, after: value as number | boolean }));
}

function flatten(fields: Fields, secrecy: Secrecy): Map<string, AuditValue> {
  const flat = new Map<string, AuditValue>();
  const visit = (value: unknown, path: string, depth: number): void => {
    if (typeof value !== 'object' || value === null) flat.set(path, leaf(value));
    else if (Array.isArray(value) || depth === MAX_DEPTH) flat.set(path, JSON.stringify(masked(value, secrecy)));
    else
      for (const [name, inner] of Object.entries(value))
        visit(inner, path === '' ? name : `${path}.${name}`, depth + 1);
  };
  visit(fields, '', 0);
  return flat;
}

function leaf(value: unknown): AuditValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return null;
}

function shown(field: string, value: AuditValue, secrecy: Secrecy): AuditValue {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  if (value !== '' && isHidden(field, secrecy)) return MASK;
  return typeof value === 'string' ? shorten(maskedText(value)) : value;
}

/** Settings have dots in their names, so the service's decision about the whole path comes first. */
function isHidden(path: string, secrecy: Secrecy): boolean {
  if (secrecy.hides(path)) return true;
  const segments = path.split('.');
  // Their names are not known in advance, and their values may be tokens; `Host` is an address.
  if (segments.some((name) => name.endsWith('headers')) && !/^host$/i.test(segments.at(-1) ?? '')) return true;
  return segments.some((name) => isSecretField(name)) && !secrecy.shows(path);
}

function masked(value: unknown, secrecy: Secrecy, depth = 0): unknown {
  if (typeof value === 'string') return maskedText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => masked(item, secrecy, depth + 1));
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    isHidden(name, secrecy) ? MASK : masked(inner, secrecy, depth + 1),
  ]);
  return Object.fromEntries(entries);
}

function maskedText(text: string): string {
  if (/^https?:\/\/\S+$/i.test(text)) return maskUrl(text);
  return redactText(text);
}

function shorten(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text;
}
