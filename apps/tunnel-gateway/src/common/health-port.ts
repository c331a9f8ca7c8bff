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

/** What the health checks of an edge ask. */
export interface EdgeHealth {
  status: () => Promise<EdgeStatus>;
  /** It was asked to end, and soon accepts nobody. */
  isStopping: () => boolean;
}

/**
 * `/healthz`: visitors can come here, whatever the source of the configuration is: every agent is reached that is connected
 * to any edge, or has been waited for. `/readyz`: the database works, too.
 * Answers 200, or 503 with the problems. `others`: further paths. @throws Error of `listen`.
 */
export function serveHealth(
  at: { port: number; address: string },
  { status, isStopping }: EdgeHealth,
  others: WatchRoutes = {},
): Promise<Server> {
  const problemsNow = async (alive: boolean): Promise<string[]> => {
    if (isStopping()) return ['the edge is stopping'];
    const found = await status();
    return [
      ...(alive ? [] : problemsOf(found)),
      ...(found.drained ? ['the edge is drained'] : []),
      ...(found.settling ? ['the edge does not know the agents of the other edges yet'] : []),
    ];
  };
  const answer = async (alive: boolean): Promise<WatchAnswer> => {
    const problems = await problemsNow(alive).catch(() => ['the edge does not serve']);
    const works = problems.length === 0;
    return jsonAnswer(works ? 200 : 503, { status: works ? 'ok' : 'unavailable', problems });
  };
  return serveWatchers(at, { ...others, '/healthz': () => answer(true), '/readyz': () => answer(false) });
}
