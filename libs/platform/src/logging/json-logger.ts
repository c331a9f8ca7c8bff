import { currentTraceId } from '@gatehouse/tracing';
import type { LoggerService } from '@nestjs/common';
import type { LogLevel } from '../settings/service-settings.js';
import { redactText, redactValue } from './redact.js';
import { currentRequestId } from './request-context.js';

export type RecordLevel = Exclude<LogLevel, 'silent'> | 'fatal';

/** One log record, already redacted. */
export interface LogRecord {
  /** RFC 3339 UTC with milliseconds. */
  readonly time: string;
  readonly level: RecordLevel;
  readonly service: string;
  /** The part of the program that logs: a class name, or 'kernel'. */
  readonly context: string | undefined;
  readonly message: string;
  readonly requestId: string | undefined;
  /** The trace that the request or job is part of, while tracing is on. */
  readonly traceId: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type LogTap = (record: LogRecord) => void;

export interface JsonLoggerOptions {
  readonly service: string;
  readonly level: LogLevel;
  /** Receives each line with its newline. Default: standard output. */
  readonly write?: (line: string) => void;
}

const WEIGHT: Record<LogLevel | 'fatal', number> = { debug: 10, info: 20, warn: 30, error: 40, fatal: 50, silent: 60 };

/** Contexts in which Nest lists each module and each route at every start: hundreds of lines that are always the same. */
const NEST_INVENTORY: ReadonlySet<unknown> = new Set(['InstanceLoader', 'RoutesResolver', 'RouterExplorer']);

/**
 * One JSON object per line, with request id, trace id and redaction; usable as Nest's logger. Optional parameters: objects become
 * fields, a stack becomes `stack`, a last string is the context.
 */
export class JsonLogger implements LoggerService {
  private threshold: number;
  private readonly contextThresholds = new Map<string, number>();
  /** The lowest level that any output wants. */
  private lowest: number;
  private readonly taps = new Set<LogTap>();
  private readonly write: (line: string) => void;
  private readonly service: string;

  constructor({ service, level, write = writeToStandardOutput }: JsonLoggerOptions) {
    this.service = service;
    this.threshold = WEIGHT[level];
    this.lowest = this.threshold;
    this.write = write;
  }

  setLevel(level: LogLevel): void {
    this.threshold = WEIGHT[level];
    this.lowest = Math.min(this.threshold, ...this.contextThresholds.values());
  }

  /** A separate level for one part of the program. Taps follow it alone; the output needs both levels. */
  setContextLevel(context: string, level: LogLevel): void {
    this.contextThresholds.set(context, WEIGHT[level]);
    this.lowest = Math.min(this.threshold, ...this.contextThresholds.values());
  }

  /**
   * Passes every record that passes the level filter to a listener in this process; returns a function that stops it.
   */
  tap(listener: LogTap): () => void {
    this.taps.add(listener);
    return () => this.taps.delete(listener);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.emit('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.emit('debug', message, rest);
  }
  log(message: unknown, ...rest: unknown[]): void {
    this.emit(NEST_INVENTORY.has(rest.at(-1)) ? 'debug' : 'info', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.emit('warn', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.emit('error', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.emit('fatal', message, rest);
  }

  private emit(level: RecordLevel, message: unknown, rest: unknown[]): void {
    const weight = WEIGHT[level];
    if (weight < this.lowest) return;
    const { text, context, fields } = arrange(message, rest);
    const own = context === undefined ? undefined : this.contextThresholds.get(context);
    if (weight < (own ?? this.threshold)) return;
    const record: LogRecord = {
      time: new Date().toISOString(),
      level,
      service: this.service,
      context,
      message: text,
      requestId: currentRequestId(),
      traceId: currentTraceId(),
      fields,
    };
    if (weight >= this.threshold) this.write(`${toLine(record)}\n`);
    for (const tap of this.taps) tap(record);
  }
}

function toLine({ requestId, traceId, fields, ...record }: LogRecord): string {
  return JSON.stringify({ ...record, request_id: requestId, trace_id: traceId, ...renameReserved(fields) });
}

const RESERVED = new Set(['time', 'level', 'service', 'context', 'message', 'request_id', 'trace_id']);

function renameReserved(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) renamed[RESERVED.has(name) ? `${name}_` : name] = value;
  return renamed;
}

interface Arranged {
  text: string;
  context: string | undefined;
  fields: Record<string, unknown>;
}

/** Nest passes (message, ...parameters, context) and for errors (message, stack, context). */
function arrange(message: unknown, rest: unknown[]): Arranged {
  const fields: Record<string, unknown> = {};
  const parameters = [...rest];
  const last = parameters.at(-1);
  const context = typeof last === 'string' && !looksLikeStack(last) ? last : undefined;
  if (context !== undefined) parameters.pop();
  const text = messageText(message, fields);
  for (const parameter of parameters) addParameter(parameter, fields);
  return { text, context, fields };
}

function messageText(message: unknown, fields: Record<string, unknown>): string {
  if (typeof message === 'string') return redactText(message);
  if (message instanceof Error) {
    fields['error'] = redactValue(message);
    return redactText(message.message);
  }
  if (typeof message === 'object' && message !== null) {
    Object.assign(fields, redactValue(message));
    return typeof fields['message'] === 'string' ? fields['message'] : 'event';
  }
  return String(message);
}

function addParameter(parameter: unknown, fields: Record<string, unknown>): void {
  if (parameter === undefined || parameter === null) return;
  if (parameter instanceof Error) fields['error'] = redactValue(parameter);
  else if (typeof parameter === 'string')
    fields[looksLikeStack(parameter) ? 'stack' : 'detail'] = redactText(parameter);
  else if (typeof parameter === 'object' && !Array.isArray(parameter)) Object.assign(fields, redactValue(parameter));
  else fields['detail'] = redactValue(parameter);
}

function looksLikeStack(text: string): boolean {
  return text.includes('\n    at ') || text.startsWith('Error:');
}

function writeToStandardOutput(line: string): void {
  process.stdout.write(line);
}
