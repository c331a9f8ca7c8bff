import type { ConnectionListResponse } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { useResource } from '../../shared/state/use-resource.js';
import { NO_HISTORY, nextHistory, type ConnectionHistory } from './connection-history.js';

const REFRESH_MS = 1_500;

/** Kept while the reader looks at other pages. */
let history: ConnectionHistory = NO_HISTORY;

export interface LiveConnections {
  /** The figures of the whole; undefined until the first answer. */
  list: ConnectionListResponse | undefined;
  history: ConnectionHistory;
  error: string | null;
  reload: () => void;
  forgetClosed: () => void;
}

/** All open connections, and those that were seen to close. */
export function useConnections(paused: boolean): LiveConnections {
  const api = useApi();
  const { data, error, reload } = useResource(
    async (signal) => {
      const list = await api.get<ConnectionListResponse>('/connections', {}, signal);
      history = nextHistory(history, list.connections, Date.now());
      return { list, history };
    },
    [],
    paused ? {} : { everyMs: REFRESH_MS },
  );
  const forgetClosed = (): void => {
    history = { ...history, closed: [] };
    reload();
  };
  return { list: data?.list, history: data?.history ?? history, error, reload, forgetClosed };
}
