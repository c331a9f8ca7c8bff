import { t } from '../messages/index.js';

/** One field that the service refused, and why. */
export interface FieldProblem {
  field: string;
  message: string;
}

/** An answer that is no success, or none at all (`status` 0). The message is fit for people. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly FieldProblem[];
  /** Seconds after which another attempt makes sense; null if the answer does not say. */
  readonly retryAfter: number | null;

  constructor(
    message: string,
    options: { status: number; code: string; details?: readonly FieldProblem[]; retryAfter?: number | null },
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = options.status;
    this.code = options.code;
    this.details = options.details ?? [];
    this.retryAfter = options.retryAfter ?? null;
  }
}

/**
 * Reads `{error, code, details?}` and the problems of RFC 9457 (`{detail, code, errors?}`); anything else, such as a
 * proxy's own page, becomes its status. Codes are in capitals, as in docs/errors.md.
 */
export function toApiError(status: number, body: unknown, retryAfter: string | null): ApiError {
  const { error, detail, code, details, errors } = isRecord(body) ? body : {};
  const message = [error, detail].find((text) => typeof text === 'string');
  const problems = [details, errors].find((list) => Array.isArray(list)) ?? [];
  return new ApiError(message ?? t('errors.status', { status }), {
    status,
    code: typeof code === 'string' ? code.toUpperCase() : 'UNKNOWN',
    details: problems.filter(isProblem),
    retryAfter: readSeconds(retryAfter),
  });
}

/** Whether a change was refused because someone else has changed the row since it was read. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412;
}

/** Refused fields; a refusal for another reason names its one field at the start of its message (`listen_port: …`). */
export function problemsOf(error: unknown, fields: readonly string[]): readonly FieldProblem[] {
  if (!(error instanceof ApiError) || error.details.length > 0) return error instanceof ApiError ? error.details : [];
  const [, field = '', message = ''] = /^([a-z_]+): (.+)$/s.exec(error.message) ?? [];
  return fields.includes(field) ? [{ field, message }] : [];
}

/** Whether there was no answer at all. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0;
}

/** What to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

function readSeconds(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isProblem(value: unknown): value is FieldProblem {
  return isRecord(value) && typeof value['field'] === 'string' && typeof value['message'] === 'string';
}
