import { errorEntry, type ErrorCode } from '@gatehouse/contracts';

/** One refused field; `field` is a path such as `rules[2].payload`. */
export interface ErrorDetail {
  readonly field: string;
  readonly message: string;
}

export type ErrorLevel = 'debug' | 'info' | 'warn' | 'error';

export interface AppErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** The real cause: logged, never sent. */
  readonly cause?: unknown;
  /** Level at which the filter logs it. Default: error for 5xx, debug for the rest. */
  readonly level?: ErrorLevel;
  /** Seconds until a retry makes sense: becomes the Retry-After header. */
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further public members of the body, for formats that define some. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Of a refusal by a limit: the limit's name in metrics, one of few. Default: the code in small letters. */
  readonly limit?: string;
}

/** An expected failure: a code of the catalogue and a text that can be shown to anyone. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  readonly level: ErrorLevel;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;
  /** The limit that refused; undefined for other errors. */
  readonly limit: string | undefined;

  constructor(code: ErrorCode, publicMessage?: string, options: AppErrorOptions = {}) {
    const entry = errorEntry(code);
    super(publicMessage ?? entry.title, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = entry.status;
    this.details = options.details ?? [];
    this.level = options.level ?? (entry.status >= 500 ? 'error' : 'debug');
    this.retryAfterSeconds = wholeSeconds(options.retryAfterSeconds);
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
    this.limit = options.limit ?? (entry.status === 429 ? code.toLowerCase() : undefined);
  }
}

/** Clients read whole seconds (RFC 9110 section 10.2.3), so it is rounded up. */
function wholeSeconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.max(1, Math.ceil(seconds));
}
