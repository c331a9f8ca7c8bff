import type { AuditChange, AuditValue } from '@gatehouse/contracts';
import { isSecretField, redactText } from '@gatehouse/platform';
import { isSecretOption, MASK, maskUrl } from '../nodes/mask-secrets.js';
import { MAX_CHANGES, MAX_VALUE } from './audit-entry.js';

/** A resource as people know it, nested or not. Credentials are still in it: what leaves here does not hold them. */
export type Fields = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 6;

/** Every field that differs. Null stands for a resource that did not exist before, or does not afterwards. */
export function changesBetween(before: Fields | null, after: Fields | null): AuditChange[] {
  const old = flatten(before ?? {});
  const fresh = flatten(after ?? {});
  const changes: AuditChange[] = [];
  for (const field of new Set([...old.keys(), ...fresh.keys()])) {
    const from = old.get(field) ?? null;
    const to = fresh.get(field) ?? null;
    if (from === to) continue;
    changes.push({ field, before: shown(field, from), after: shown(field, to) });
    if (changes.length === MAX_CHANGES) break;
  }
  return changes;
}

/** What an operation says of its own result: numbers and flags, no texts. */
export function resultOf(answer: unknown): AuditChange[] {
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.entries(answer)
    .filter(([field, value]) => (typeof value === 'number' || typeof value === 'boolean') && !/(^|_)id$/.test(field))
    .slice(0, MAX_CHANGES)
    .map(([field, value]) => ({ field, before: null, after: value as number | boolean }));
}

function flatten(fields: Fields): Map<string, AuditValue> {
  const flat = new Map<string, AuditValue>();
  const visit = (value: unknown, path: string, depth: number): void => {
    if (typeof value !== 'object' || value === null) flat.set(path, leaf(value));
    else if (Array.isArray(value) || depth === MAX_DEPTH) flat.set(path, JSON.stringify(masked(value)));
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

function shown(field: string, value: AuditValue): AuditValue {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  if (value !== '' && isHidden(field)) return MASK;
  return typeof value === 'string' ? shorten(maskedText(value)) : value;
}

/** Settings have dots in their names: `auth.token_ttl_sec` hides nothing. */
function isHidden(path: string): boolean {
  const segments = path.split('.');
  // Of hysteria it is a password, whatever it is elsewhere.
  if (segments.at(-1) === 'obfs' || path === 'kernel.users') return true;
  if (segments.includes('headers') && !/^host$/i.test(segments.at(-1) ?? '')) return true;
  return (
    segments.some((name) => isSecretOption(name) || isSecretField(name)) &&
    !/^auth\.(enabled|token_ttl_sec)$/.test(path)
  );
}

function masked(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskedText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => masked(item, depth + 1));
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    isHidden(name) ? MASK : masked(inner, depth + 1),
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
