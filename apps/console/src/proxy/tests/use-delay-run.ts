import type { NodeTestResult } from '@gatehouse/contracts';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { delayTests, type TestTally } from './delay-tests.js';

export interface DelayRun {
  /** Null: nothing runs. */
  tally: TestTally | null;
  start: (ids: readonly number[]) => Promise<void>;
  stop: () => void;
}

/** Results stay in view until lists have surely been read again. */
const KEPT_MS = 15_000;

/** Tests nodes one by one. Leaving the page ends the run. */
export function useDelayRun(onDone: () => void): DelayRun {
  const api = useApi();
  const [tally, setTally] = useState<TestTally | null>(null);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const start = useCallback(
    async (ids: readonly number[]): Promise<void> => {
      abort.current.abort();
      abort.current = new AbortController();
      const { signal } = abort.current;
      setTally({ total: ids.length, tested: 0, failed: 0 });
      await delayTests.run(ids, {
        signal,
        test: (id) => api.post<NodeTestResult>(`/proxies/${id}/test`),
        onProgress: (now) => !signal.aborted && setTally(now),
      });
      setTimeout(() => delayTests.forget(ids), KEPT_MS);
      onDone();
      if (abort.current.signal === signal) setTally(null);
    },
    [api, onDone],
  );
  return { tally, start, stop: () => abort.current.abort() };
}
