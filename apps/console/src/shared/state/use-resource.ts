import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { ApiContext } from '../api/api-context.js';
import { isUnreachable, messageOf } from '../api/api-error.js';
import type { Reachability } from '../api/reachability.js';

export interface Resource<T> {
  /** The last answer, kept while the next one is on its way. */
  data: T | undefined;
  error: string | null;
  reload: () => void;
}

export interface ResourceOptions {
  /** Ask again after each answer, but not while the page is hidden. */
  everyMs?: number;
}

/** While the service does not answer, everything is asked again this often, so that pages recover without a click. */
const RETRY_MS = 3_000;

/** Loads when mounted and whenever `deps` change; answers that have been overtaken are dropped. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
  { everyMs }: ResourceOptions = {},
): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, 'reload'>>({ data: undefined, error: null });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const reachability = useContext(ApiContext)?.reachability;
  useEffect(() => {
    const abort = new AbortController();
    const ask = async (): Promise<number | undefined> => {
      try {
        const data = await latest.current(abort.signal);
        if (!abort.signal.aborted) setState({ data, error: null });
        return everyMs;
      } catch (error) {
        if (!abort.signal.aborted) setState((before) => ({ ...before, error: messageOf(error) }));
        return isUnreachable(error) ? Math.min(everyMs ?? RETRY_MS, RETRY_MS) : everyMs;
      }
    };
    void repeat(ask, abort.signal, reachability);
    return () => abort.abort();
  }, [...deps, round, everyMs]);
  const reload = useCallback(() => setRound((value) => value + 1), []);
  return { ...state, reload };
}

/** `ask` resolves with the time after which to ask again; undefined: never. */
async function repeat(
  ask: () => Promise<number | undefined>,
  signal: AbortSignal,
  reachability: Reachability | undefined,
): Promise<void> {
  let wait = await ask();
  while (wait !== undefined && !signal.aborted) {
    await pause(wait, signal, reachability);
    if (!signal.aborted && !document.hidden) wait = await ask();
  }
}

/** Resolves after the time, when the page comes back into view, when the service is back, or when it is aborted. */
function pause(ms: number, signal: AbortSignal, reachability: Reachability | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', done);
      signal.removeEventListener('abort', done);
      leave?.();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const leave = reachability?.onChange(() => !reachability.away && done());
    document.addEventListener('visibilitychange', done);
    signal.addEventListener('abort', done);
  });
}
