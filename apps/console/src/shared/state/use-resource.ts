import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { ApiContext, ChangesContext } from '../api/api-context.js';
import { isUnreachable, messageOf } from '../api/api-error.js';
import type { LiveChanges } from '../api/live-changes.js';
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
  /**
   * Areas of the service (data/sql/changes.sql) that the answer is about: it is asked for as soon as one of them changes.
   * While changes are announced, `everyMs` is only a fallback.
   */
  areas?: readonly string[] | undefined;
}

/** While the service does not answer, everything is asked again this often, so that pages recover without a click. */
const RETRY_MS = 3_000;

/** How often answers are asked for whose changes are announced, in case one is not. */
const ANNOUNCED_MS = 15_000;

/** No more often than this, however many changes are announced. */
const SETTLE_MS = 1_000;

/** Loads when mounted and whenever `deps` change; answers that have been overtaken are dropped. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
  { everyMs, areas }: ResourceOptions = {},
): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, 'reload'>>({ data: undefined, error: null });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const reachability = useContext(ApiContext)?.reachability;
  const changes = useContext(ChangesContext);
  useEffect(() => {
    const abort = new AbortController();
    const news = new News(areas === undefined ? null : changes, areas ?? []);
    const pauseMs = (): number | undefined => (news.announced ? Math.max(everyMs ?? 0, ANNOUNCED_MS) : everyMs);
    const ask = async (): Promise<number | undefined> => {
      try {
        const data = await latest.current(abort.signal);
        if (!abort.signal.aborted) setState({ data, error: null });
        return pauseMs();
      } catch (error) {
        if (!abort.signal.aborted) setState((before) => ({ ...before, error: messageOf(error) }));
        return isUnreachable(error) ? Math.min(everyMs ?? RETRY_MS, RETRY_MS) : pauseMs();
      }
    };
    void repeat(ask, abort.signal, reachability, news);
    return () => {
      abort.abort();
      news.close();
    };
  }, [...deps, round, everyMs, areas?.join(' ')]);
  const reload = useCallback(() => setRound((value) => value + 1), []);
  return { ...state, reload };
}

/** Whether something was announced since the last question. */
class News {
  readonly #changes: LiveChanges | null;
  readonly #leave: (() => void) | undefined;
  #fresh = false;
  /** Ends a pause. */
  wake: (() => void) | null = null;

  constructor(changes: LiveChanges | null, areas: readonly string[]) {
    this.#changes = changes;
    this.#leave = changes?.follow(areas, () => {
      this.#fresh = true;
      this.wake?.();
    });
  }

  get announced(): boolean {
    return this.#changes?.live ?? false;
  }

  get fresh(): boolean {
    return this.#fresh;
  }

  asked(): void {
    this.#fresh = false;
  }

  close(): void {
    this.#leave?.();
  }
}

/** `ask` resolves with the time after which to ask again; undefined: never. */
async function repeat(
  ask: () => Promise<number | undefined>,
  signal: AbortSignal,
  reachability: Reachability | undefined,
  news: News,
): Promise<void> {
  let wait = await ask();
  while (wait !== undefined && !signal.aborted) {
    const settled = performance.now() + SETTLE_MS;
    await pause(wait, signal, reachability, news);
    if (news.fresh) await pause(settled - performance.now(), signal, reachability, null);
    if (signal.aborted || document.hidden) continue;
    news.asked();
    wait = await ask();
  }
}

/** Resolves after the time, with news, when the page comes back into view, when the service is back, or when aborted. */
function pause(
  ms: number,
  signal: AbortSignal,
  reachability: Reachability | undefined,
  news: News | null,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', done);
      signal.removeEventListener('abort', done);
      leave?.();
      if (news !== null) news.wake = null;
      resolve();
    };
    const timer = setTimeout(done, ms);
    const leave = reachability?.onChange(() => !reachability.away && done());
    document.addEventListener('visibilitychange', done);
    signal.addEventListener('abort', done);
    if (news === null) return;
    news.wake = done;
    if (news.fresh && !document.hidden) done();
  });
}
