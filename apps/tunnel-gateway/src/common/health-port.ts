import type { Server } from 'node:http';
import { jsonAnswer, serveWatchers, type WatchAnswer, type WatchRoutes } from '@gatehouse/platform';
import type { EdgeStatus } from './edge-ipc.js';

/** Problems of an edge, with the names that the service's `/readyz` uses. */
export function problemsOf({ databaseAnswers, source, workers = [], problems = [] }: EdgeStatus): string[] {
  return [
    ...(workers.includes(null) ? ['a worker of the edge does not serve'] : []),
    ...(source === 'snapshot' ? ['the edge serves the last snapshot of the configuration'] : []),
    ...(source === 'database' && !databaseAnswers ? ['the edge has no database'] : []),
    ...problems,
  ];
}

/**
 * `/healthz`: the edge serves, from whatever source. `/readyz`: it serves with a working database, and is not drained.
 * Answers 200, or 503 with the problems. `others`: further paths. Listens on the loopback interface only. @throws Error
 * of `listen`.
 */
export function serveHealth(
  port: number,
  status: () => Promise<EdgeStatus>,
  others: WatchRoutes = {},
): Promise<Server> {
  const answer = async (alive: boolean): Promise<WatchAnswer> => {
    const problems = await status()
      .then((found) => (alive ? [] : [...problemsOf(found), ...(found.drained ? ['the edge is drained'] : [])]))
      .catch(() => ['the edge does not serve']);
    const works = problems.length === 0;
    return jsonAnswer(works ? 200 : 503, { status: works ? 'ok' : 'unavailable', problems });
  };
  return serveWatchers(
    { port, address: '127.0.0.1' },
    { ...others, '/healthz': () => answer(true), '/readyz': () => answer(false) },
  );
}
