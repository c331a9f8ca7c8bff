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
  /** Seconds after which another attempt makes sense; null where nobody said. */
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

/** Reads the service's `{error, code, details?}`; anything else, such as a proxy's own page, becomes its status. */
export function toApiError(status: number, body: unknown, retryAfter: string | null): ApiError {
  const { error, code, details } = isRecord(body) ? body : {};
  return new ApiError(typeof error === 'string' ? error : `The service answered with status ${status}.`, {
    status,
    code: typeof code === 'string' ? code : 'UNKNOWN',
    details: Array.isArray(details) ? details.filter(isProblem) : [],
    retryAfter: readSeconds(retryAfter),
  });
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
