import { bilingual, BilingualError } from '@gatehouse/i18n';
import { mayPass } from '@gatehouse/postgres';

/** Code of a failure because a connection ended or was not available: the same job may succeed in a moment. */
const TEMPORARY = 'SERVICE_UNAVAILABLE';

/** A job that ended in failure, for the caller that waited for it. */
export class JobFailedError extends Error {
  override readonly name = 'JobFailedError';
  /** Code of the error the handler raised; undefined for an unexpected one, whose message is not for users. */
  readonly code: string | undefined;
  /** Whether a repetition may succeed, because the database or Redis was not available. */
  readonly temporary: boolean;

  constructor(failure: JobFailure) {
    super(failure.message);
    this.code = failure.code;
    this.temporary = failure.code === TEMPORARY;
  }
}

/** The job did not end within the time limit of its caller; it may still run. */
export class JobTimeoutError extends Error {
  override readonly name = 'JobTimeoutError';
}

/** The queue's store does not answer, or this process is shutting down. */
export class JobsUnavailableError extends BilingualError {
  override readonly name = 'JobsUnavailableError';
  readonly temporary = true;

  constructor(english: string, chinese: string, options?: ErrorOptions) {
    super(bilingual(english, chinese), options);
  }
}

/** Queues and handlers do not match; the message names every queue and class concerned. */
export class JobHandlersError extends Error {
  override readonly name = 'JobHandlersError';
}

/** Raised by a handler to end the job at once, whatever the number of attempts left. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
  readonly code: string | undefined;

  constructor(message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code;
  }
}

/** Why a job failed. */
export interface JobFailure {
  code?: string | undefined;
  message: string;
}

/**
 * The queue's store keeps only a text; a coded error keeps its code in it, so that a waiting process can restore it.
 */
export function encodeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = mayPass(error) ? TEMPORARY : codeOf(error);
  return code === undefined ? message : JSON.stringify({ code, message });
}

export function decodeFailure(reason: string): JobFailure {
  if (!reason.startsWith('{"code":')) {
    // BullMQ itself fails a job whose result it could not store, with the connection's message.
    return mayPass(new Error(reason)) ? { code: TEMPORARY, message: reason } : { message: reason };
  }
  try {
    const { code, message } = JSON.parse(reason) as { code: string; message: string };
    return { code, message };
  } catch {
    // Another message that only begins in the same way.
    return { message: reason };
  }
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
