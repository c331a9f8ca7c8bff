import type { AuditActorType, AuditChange } from '@gatehouse/contracts';
import { redactText } from '@gatehouse/platform';

/** Id and name of the actor. */
export interface AuditActor {
  type: AuditActorType;
  id: number | null;
  name: string | null;
  /** Owner of the API key. */
  user?: string | null;
}

/** The record of one call, or of one action of the service itself. */
export interface AuditEntry {
  at: Date;
  actor: AuditActor;
  ip: string | null;
  userAgent: string | null;
  requestId: string | null;
  method: string | null;
  path: string | null;
  action: string;
  resourceType: string | null;
  resourceId: string | null;
  resourceName: string | null;
  status: number | null;
  success: boolean;
  error: string | null;
  changes: AuditChange[];
  durationMs: number | null;
}

export const MAX_CHANGES = 50;
export const MAX_VALUE = 200;
const MAX_NAME = 200;
const MAX_PATH = 512;
const MAX_ERROR = 500;

/** Limited in size, without credentials, and without characters that PostgreSQL cannot store. */
export function tidy(entry: AuditEntry): AuditEntry {
  return {
    ...entry,
    actor: {
      ...entry.actor,
      name: clean(entry.actor.name, MAX_NAME),
      user: clean(entry.actor.user ?? null, MAX_NAME),
    },
    ip: clean(entry.ip, 64),
    userAgent: clean(entry.userAgent, 256),
    requestId: clean(entry.requestId, 100),
    method: clean(entry.method, 16),
    path: clean(entry.path, MAX_PATH),
    action: clean(entry.action, 100) ?? 'unknown',
    resourceId: clean(entry.resourceId, MAX_NAME),
    resourceName: clean(entry.resourceName, MAX_NAME),
    error: clean(entry.error, MAX_ERROR),
    changes: entry.changes.slice(0, MAX_CHANGES).map(({ field, before, after }) => ({
      field: clean(field, MAX_NAME) ?? '',
      before: cleanValue(before),
      after: cleanValue(after),
    })),
  };
}

function cleanValue(value: AuditChange['before']): AuditChange['before'] {
  if (typeof value === 'string') return clean(value, MAX_VALUE);
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}

/** PostgreSQL accepts neither NUL nor half a surrogate pair. */
function clean(text: string | null, length: number): string | null {
  if (text === null) return null;
  const plain = redactText(text.replaceAll('\0', '').toWellFormed());
  return plain.length > length ? `${plain.slice(0, length - 1).toWellFormed()}…` : plain;
}

/** An action of the service itself. */
export function systemEntry(action: string): AuditEntry {
  return {
    at: new Date(),
    actor: { type: 'system', id: null, name: 'system' },
    ip: null,
    userAgent: null,
    requestId: null,
    method: null,
    path: null,
    action,
    resourceType: null,
    resourceId: null,
    resourceName: null,
    status: null,
    success: true,
    error: null,
    changes: [],
    durationMs: null,
  };
}
