import type { EventView } from '@gatehouse/contracts';
import { useEffect, useState } from 'preact/hooks';
import type { ApiClient, Query } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError, messageOf } from '../../shared/api/api-error.js';
import { readMessages } from '../../shared/api/event-stream.js';
import { wait } from '../../shared/api/wait.js';
import { mergeEvents } from './event-names.js';

export interface LiveEvents {
  events: readonly EventView[];
  /** Whether the stream is open. */
  isLive: boolean;
  error: string | null;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const QUIET: LiveEvents = { events: [], isLive: false, error: null };

/**
 * What happened last, and what happens from then on: the stream goes on with the last event that came, so that nothing
 * is missed while the connection was lost. `after`: the newest event of the list that is shown; undefined while that
 * is not known, and nothing is asked then.
 */
export function useLiveEvents(filter: Query, after: number | undefined): LiveEvents {
  const api = useApi();
  const [state, setState] = useState(QUIET);
  const asked = JSON.stringify(filter);
  useEffect(() => {
    setState(QUIET);
    if (after === undefined) return;
    const abort = new AbortController();
    void follow(api, JSON.parse(asked) as Query, after, abort.signal, (change) => {
      if (!abort.signal.aborted) setState(change);
    });
    return () => abort.abort();
  }, [asked, after]);
  return state;
}

type Change = (change: (before: LiveEvents) => LiveEvents) => void;

async function follow(
  api: ApiClient,
  filter: Query,
  after: number,
  signal: AbortSignal,
  update: Change,
): Promise<void> {
  let last = after;
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    try {
      const headers = { accept: 'text/event-stream', 'last-event-id': String(last) };
      const stream = await api.open('/events', { query: filter, headers, signal });
      update((before) => ({ ...before, isLive: true, error: null }));
      for await (const { event: kind, data } of readMessages(stream)) {
        // Events that the service no longer keeps will not arrive.
        if (kind === 'gap') continue;
        const event = JSON.parse(data) as EventView;
        last = Math.max(last, event.id);
        pause = FIRST_PAUSE_MS;
        update((before) => ({ ...before, events: mergeEvents(before.events, [event]) }));
      }
      update((before) => ({ ...before, isLive: false }));
    } catch (failure) {
      update((before) => ({ ...before, isLive: false, error: messageOf(failure) }));
      // Another attempt would be refused, too.
      if (failure instanceof ApiError && failure.status >= 400 && failure.status < 429) return;
    }
    await wait(pause, signal);
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
  }
}
