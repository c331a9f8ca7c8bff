import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * What the log knows about the current request or job, and the languages of its reader. Only the log and texts for
 * people read it: business code gets an Actor argument.
 */
export interface RequestContext {
  readonly requestId: string;
  /** The unchanged field; undefined if the client sent none. */
  readonly acceptLanguage?: string | undefined;
  /** Code of the error in the answer. */
  errorCode?: string | undefined;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs a function so that every log line inside contains the request id. */
export function runInRequestContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/** Id of the current request or job, if there is one. */
export function currentRequestId(): string | undefined {
  return storage.getStore()?.requestId;
}

/** Records the error with which the current request is answered. */
export function noteErrorCode(code: string): void {
  const context = storage.getStore();
  if (context !== undefined) context.errorCode = code;
}

/** `Accept-Language` of the current request; undefined if its client has no preference. */
export function currentAcceptLanguage(): string | undefined {
  return storage.getStore()?.acceptLanguage;
}
