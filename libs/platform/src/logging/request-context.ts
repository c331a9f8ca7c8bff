import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * What the log knows about the request or job that runs, and the languages its reader asks for. Only the log and texts for
 * people read it: business code gets an Actor argument.
 */
export interface RequestContext {
  readonly requestId: string;
  /** The field as it came; undefined where the client said nothing. */
  readonly acceptLanguage?: string | undefined;
  /** Of the error that is answered. */
  errorCode?: string | undefined;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs a function so that every log line below it carries the request id. */
export function runInRequestContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/** Id of the request or job that runs, if one does. */
export function currentRequestId(): string | undefined {
  return storage.getStore()?.requestId;
}

/** Says which error the request that runs is answered with. */
export function noteErrorCode(code: string): void {
  const context = storage.getStore();
  if (context !== undefined) context.errorCode = code;
}

/** `Accept-Language` of the request that runs; undefined where its client has no wish. */
export function currentAcceptLanguage(): string | undefined {
  return storage.getStore()?.acceptLanguage;
}
