import type { RuntimeLogLevel, RuntimeLogSource, RuntimeLogView } from '@gatehouse/contracts';
import type { LogRecord } from '@gatehouse/platform';

/** The context of the kernel's log lines. */
export const KERNEL_CONTEXT = 'Kernel';

const LEVELS: readonly (readonly [RuntimeLogLevel, number])[] = [
  ['debug', 10],
  ['info', 20],
  ['warning', 30],
  ['error', 40],
];
const WEIGHT_OF: Readonly<Record<LogRecord['level'], number>> = { debug: 10, info: 20, warn: 30, error: 40, fatal: 40 };
const MAX_MESSAGE = 8_192;
const MAX_FIELDS = 16_384;
const MAX_DEPTH = 8;

export interface NewRuntimeLog {
  time: string;
  level: number;
  source: RuntimeLogSource;
  context: string | null;
  message: string;
  fields: unknown;
  request_id: string | null;
}

export interface RuntimeLogRow extends Omit<NewRuntimeLog, 'time' | 'fields'> {
  id: number;
  time: Date;
  fields: Record<string, unknown>;
}

export function weightOf(level: RuntimeLogLevel): number {
  return LEVELS.find(([name]) => name === level)?.[1] ?? 0;
}

/** The logger has already redacted the record. */
export function toNewRow(record: LogRecord, process: 'api' | 'worker'): NewRuntimeLog {
  const { context, message, requestId } = record;
  return {
    time: record.time,
    level: WEIGHT_OF[record.level],
    source: context === KERNEL_CONTEXT ? 'kernel' : process,
    context: context === undefined ? null : storable(context.slice(0, 200)),
    message: storable(message.slice(0, MAX_MESSAGE)),
    fields: bounded(storableFields(record.fields, 0)),
    request_id: requestId === undefined ? null : storable(requestId.slice(0, 100)),
  };
}

export function toRuntimeLogView(row: RuntimeLogRow): RuntimeLogView {
  const level = LEVELS.find(([, weight]) => weight === row.level)?.[0] ?? 'error';
  return {
    id: row.id,
    time: row.time.toISOString(),
    level,
    source: row.source,
    context: row.context,
    message: row.message,
    fields: row.fields,
    request_id: row.request_id,
    kernel: kernelOf(row),
  };
}

/** Lines of one of several kernels have its name among their fields. */
function kernelOf({ source, fields }: RuntimeLogRow): string | null {
  const name = source === 'kernel' ? fields['kernel'] : null;
  return typeof name === 'string' ? name : null;
}

/** PostgreSQL accepts neither NUL nor unpaired surrogates. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** Stack traces stay on standard output: readers of these logs may not know the program. */
function storableFields(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => storableFields(item, depth + 1));
  const entries = Object.entries(value)
    .filter(([name]) => name !== 'stack')
    .map(([name, inner]) => [storable(name), storableFields(inner, depth + 1)]);
  return Object.fromEntries(entries);
}

function bounded(fields: unknown): unknown {
  const text = JSON.stringify(fields) ?? '{}';
  return text.length > MAX_FIELDS ? { truncated: storable(text.slice(0, 2_000)) } : fields;
}
