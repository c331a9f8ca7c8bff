import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.js';

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
  useEffect(() => {
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const data = await latest.current(abort.signal);
        if (!abort.signal.aborted) setState({ data, error: null });
      } catch (error) {
        if (!abort.signal.aborted) setState((before) => ({ ...before, error: messageOf(error) }));
      }
    };
    void repeat(ask, everyMs, abort.signal);
    return () => abort.abort();
  }, [...deps, round, everyMs]);
  const reload = useCallback(() => setRound((value) => value + 1), []);
  return { ...state, reload };
}

async function repeat(ask: () => Promise<void>, everyMs: number | undefined, signal: AbortSignal): Promise<void> {
  await ask();
  while (everyMs !== undefined && !signal.aborted) {
    await pause(everyMs, signal);
    if (!signal.aborted && !document.hidden) await ask();
  }
}

/** Resolves after the time, when the page comes back into view, or when it is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    document.addEventListener('visibilitychange', done);
    signal.addEventListener('abort', done);
  });
}
