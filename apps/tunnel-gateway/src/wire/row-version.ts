import { hash } from 'node:crypto';
import { AppError } from '@gatehouse/platform';

/** The columns of a versioned row. */
interface Versioned {
  id: number;
  updatedAt?: Date | null;
}

/** If-Match: one of these versions, or any. */
export type ExpectedVersion = ReadonlySet<string> | 'any';

/** Strong entity tags (RFC 9110 section 8.8.3) in a list; weak ones never match here, so they are ignored. */
const TAG = /(?<![^\s,])"([0-9a-z]{1,16})-[\w-]{1,64}"/g;

/** A row as answers show it. */
interface RowView {
  readonly id: unknown;
  readonly updated_at: string | null;
}

/**
 * The entity tag of an answer with a single row: its version, which changes when a user changes the row, and a hash of
 * the whole view, which also changes with counters and states. If-None-Match compares both, If-Match only the version.
 */
export function tagOfRow(view: unknown): string | undefined {
  if (!isRowView(view)) return undefined;
  const version = versionOf(view.updated_at === null ? null : new Date(view.updated_at));
  return `"${version}-${hash('sha256', JSON.stringify(view), 'base64url').slice(0, 16)}"`;
}

/** Null: no condition. */
export function readIfMatch(header: string | undefined): ExpectedVersion | null {
  if (header === undefined) return null;
  return header.trim() === '*' ? 'any' : new Set([...header.matchAll(TAG)].map(([, version = '']) => version));
}

/** @throws AppError PRECONDITION_FAILED */
export function requireVersion(row: Versioned, expected: ExpectedVersion | null): void {
  if (expected === null || expected === 'any' || expected.has(versionOf(row.updatedAt ?? null))) return;
  throw new AppError('PRECONDITION_FAILED', 'It has changed since it was read; read it again');
}

/** The time of a change: now, but never equal to the previous change. */
export function nextVersion({ updatedAt }: Versioned): Date {
  return new Date(Math.max(Date.now(), (updatedAt?.getTime() ?? 0) + 1));
}

function versionOf(updatedAt: Date | null): string {
  return updatedAt === null ? '0' : updatedAt.getTime().toString(36);
}

function isRowView(view: unknown): view is RowView {
  return typeof view === 'object' && view !== null && 'id' in view && 'updated_at' in view;
}
