import { actorOf } from '@gatehouse/auth';
import { currentRequestId, pendingSource } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { Request, RequestHandler, Response } from 'express';
import { AnonymousBudget } from './anonymous-budget.js';
import { changesBetween, resultOf } from './audit-changes.js';
import type { AuditActor, AuditEntry } from '../chain/audit-entry.js';
import { AuditLog } from '../chain/audit-log.js';
import { AuditRules, LOGIN_ACTION, type Fields } from './audit-rules.js';
import type { AuditTarget } from './audit-target.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** An answer waits this long for its row; then it is sent, and the row follows. */
const PATIENCE_MS = 2_000;
/** A call that has no answer this long after its client has left will never have one. */
const UNENDED_MS = 60_000;
const CLIENT_LEFT = 499;
/** The first of these that a resource has is its display name. */
const NAME_COLUMNS = ['custom_name', 'name', 'username', 'host', 'original_name', 'payload', 'pattern', 'title'];

/** A call that has not been answered yet. */
interface Call {
  target: AuditTarget;
  began: number;
  requestId: string | null;
  /** Undefined until a caller with the right to change it has sent a request. */
  before: Fields | null | undefined;
}

/** Writes a row for every call that may change something, before its answer is sent. */
@Injectable()
export class AuditRecorder {
  private readonly logger = new Logger('Audit');
  private readonly calls = new WeakMap<Request, Call>();
  private readonly anonymous = new AnonymousBudget();

  constructor(
    private readonly log: AuditLog,
    private readonly rules: AuditRules,
  ) {}

  /** Runs before everything that can refuse a call, including body parsers. */
  readonly middleware: RequestHandler = (request, response, next) => {
    const { method, path } = request;
    const target = SAFE_METHODS.has(method) ? null : this.rules.target(method, path);
    if (target !== null) {
      const call: Call = { target, began: performance.now(), requestId: currentRequestId() ?? null, before: undefined };
      this.calls.set(request, call);
      this.watch(request, response, call);
    }
    next();
  };

  /** Whether a row is going to be written for this call. */
  watches(request: Request): boolean {
    return this.calls.has(request);
  }

  /** Stores the state of the resource before the call; runs after the credentials were checked. */
  async readBefore(request: Request): Promise<void> {
    const call = this.calls.get(request);
    if (call) call.before = await this.read(call.target);
  }

  /** Delays the last write of an answer until the row is there. */
  private watch(request: Request, response: Response, call: Call): void {
    const end = response.end.bind(response) as (...parts: unknown[]) => Response;
    let ended = false;
    response.end = ((...parts: unknown[]) => {
      if (ended) return end(...parts);
      ended = true;
      const { statusCode } = response;
      const answer = response.hasHeader('Idempotency-Replayed') ? null : readAnswer(parts[0]);
      void this.record(request, statusCode, answer, call).finally(() => end(...parts));
      return response;
    }) as typeof response.end;
    // A client that leaves does not stop its call, which is recorded when it ends. A call that never ends is recorded
    // as well.
    response.once('close', () => {
      if (ended) return;
      setTimeout(() => void (ended || this.record(request, CLIENT_LEFT, null, call)), UNENDED_MS).unref();
    });
  }

  private async record(request: Request, status: number, answer: Answer | null, call: Call): Promise<void> {
    try {
      await pendingSource(request);
      const entry = this.entryOf(request, status, answer, call);
      if (entry.success) entry.actor = this.rules.loggedIn(entry.action, answer?.body, request) ?? entry.actor;
      const refused = !entry.success && entry.actor.type === 'anonymous';
      if (refused && !(await this.affordable(entry.at))) return;
      if (entry.success) await this.addChanges(entry, answer, call);
      await within(PATIENCE_MS, this.log.append(entry));
    } catch (error) {
      // The call itself is finished; a failure to record it must not change its answer.
      this.logger.error(`The call ${call.target.action} could not be written down`, error);
    }
  }

  private entryOf(
    request: Request,
    status: number,
    answer: Answer | null,
    { target, began, requestId }: Call,
  ): AuditEntry {
    const success = status < 400;
    return {
      at: new Date(),
      actor: this.rules.actor(request) ?? actorFields(request),
      ip: request.ip ?? null,
      userAgent: request.headers['user-agent'] ?? null,
      requestId,
      method: request.method,
      path: request.path,
      action: status === 429 && target.action === LOGIN_ACTION ? 'auth.lockout' : target.action,
      resourceType: target.resourceType,
      resourceId: target.resourceId,
      resourceName: null,
      status,
      success,
      error: success ? null : (answer?.error ?? null),
      changes: [],
      durationMs: Math.round(performance.now() - began),
    };
  }

  private async addChanges(entry: AuditEntry, answer: Answer | null, { target, before }: Call): Promise<void> {
    if (before === undefined || target.resourceType === 'auth') return;
    const created = target.resourceId === null && answer?.id !== undefined ? String(answer.id) : null;
    const after = await this.read({ ...target, resourceId: target.resourceId ?? created });
    entry.resourceId ??= created;
    entry.resourceName = nameOf(after) ?? nameOf(before);
    entry.changes = changesBetween(before, after, this.rules);
    if (before === null && after === null) entry.changes = resultOf(answer?.body);
  }

  private async read(target: AuditTarget): Promise<Fields | null> {
    try {
      return await this.rules.read(target);
    } catch (error) {
      this.logger.error(`What ${target.action} changes cannot be read`, error);
      return null;
    }
  }

  /** Anyone can send calls that are refused: a flood of them is counted, not recorded row by row. */
  private async affordable(at: Date): Promise<boolean> {
    const { allowed, suppressed } = this.anonymous.take(at.getTime());
    if (suppressed > 0) {
      await within(
        PATIENCE_MS,
        this.log.system({
          action: 'audit.suppressed',
          changes: [{ field: 'calls_without_credentials', before: null, after: suppressed }],
        }),
      );
    }
    return allowed;
  }
}

function actorFields(request: Request): AuditActor {
  const actor = actorOf(request);
  if (actor === null || actor.credential === 'none') {
    return { type: 'anonymous', id: null, name: actor?.name ?? null };
  }
  const { credentialId, name, userId, userName = null } = actor;
  if (actor.credential === 'api_key') return { type: 'api_key', id: credentialId, name, user: userName };
  if (actor.credential === 'session') return { type: 'session', id: userId, name };
  return { type: 'password', id: null, name };
}

/** The display name. */
export function nameOf(fields: Fields | null): string | null {
  for (const column of NAME_COLUMNS) {
    const name = fields?.[column];
    if (typeof name === 'string' && name !== '') return name;
  }
  return null;
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/** The parts of an answer that the log needs. */
interface Answer {
  body: unknown;
  id: number | string | undefined;
  /** Code and text of an error. */
  error: string | null;
}

/** Longer answers are lists or downloads, which the log does not need. */
const MAX_READ = 256 * 1_024;

/** Null for anything but a JSON object. */
function readAnswer(chunk: unknown): Answer | null {
  const text = typeof chunk === 'string' ? chunk : Buffer.isBuffer(chunk) ? chunk.toString() : '';
  if (!text.startsWith('{') || text.length > MAX_READ) return null;
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // An export that only begins like JSON.
    return null;
  }
  const { id, code, error } = body;
  return {
    body,
    id: typeof id === 'number' || typeof id === 'string' ? id : undefined,
    error: typeof error === 'string' ? `${typeof code === 'string' ? `${code}: ` : ''}${error}` : null,
  };
}
