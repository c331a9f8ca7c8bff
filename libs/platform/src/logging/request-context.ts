import { AsyncLocalStorage } from 'node:async_hooks';

/** What the log knows about the request or job that runs. Only the log reads it: business code gets an Actor argument. */
export interface RequestContext {
  readonly requestId: string;
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
