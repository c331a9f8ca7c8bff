import { retryAfterOf, SharingError } from './sharing-error.js';

export interface RetryOptions {
  /** Attempts of one call, the first included. 1: no retries. Default: 4. */
  readonly attempts: number;
  /** Before the second attempt, doubled for each further one, with a random part. Default: 500 ms. */
  readonly firstWaitMs: number;
  /** The longest time that a call waits because the service asks for it; longer: the error is thrown. Default: 30 s. */
  readonly longestWaitMs: number;
}

export const DEFAULT_RETRIES: RetryOptions = { attempts: 4, firstWaitMs: 500, longestWaitMs: 30_000 };

/** Too many calls, another one with this Idempotency-Key is running, or a server or proxy is away. */
const WORTH_REPEATING = new Set([429, 502, 503, 504]);
const KEY_IN_USE = 'IDEMPOTENCY_KEY_IN_USE';

export interface Repeated {
  /** Sends once; called again for each attempt. */
  readonly send: () => Promise<Response>;
  readonly signal?: AbortSignal | undefined;
}

/** Repeats what may be repeated; the caller sends only such calls. @throws SharingError of status 0 without an answer */
export async function withRetries({ send, signal }: Repeated, options: RetryOptions): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await sentOnce(send, signal);
    const isLast = attempt >= options.attempts;
    if (outcome instanceof SharingError) {
      if (isLast) throw outcome;
      await pause(backoff(attempt, options), signal);
      continue;
    }
    if (isLast || !(await isWorthRepeating(outcome))) return outcome;
    const asked = retryAfterOf(outcome);
    const wait = asked === undefined ? backoff(attempt, options) : asked * 1_000;
    if (wait > options.longestWaitMs) return outcome;
    await outcome.body?.cancel();
    await pause(wait, signal);
  }
}

async function sentOnce(
  send: () => Promise<Response>,
  signal: AbortSignal | undefined,
): Promise<Response | SharingError> {
  try {
    return await send();
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    // fetch() says so in every way that there is no answer.
    if (!(cause instanceof TypeError)) throw cause;
    return new SharingError({ status: 0, code: 'NO_ANSWER', message: 'The service could not be reached', cause });
  }
}

async function isWorthRepeating(response: Response): Promise<boolean> {
  if (response.status !== 409) return WORTH_REPEATING.has(response.status);
  const body = (await response
    .clone()
    .json()
    .catch(() => undefined)) as { code?: unknown } | undefined;
  return body?.code === KEY_IN_USE;
}

function backoff(attempt: number, { firstWaitMs }: RetryOptions): number {
  return firstWaitMs * 2 ** (attempt - 1) * (0.5 + Math.random());
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
