import type { TrafficLogView } from '@gatehouse/contracts';
import type { BadgeTone } from '../../shared/components/badge-tone.js';

/** What became of a connection, in the order in which the filter offers it. */
export const LOG_RESULTS = [
  'completed',
  'noAnswer',
  'closed',
  'idle',
  'stopped',
  'rejected',
  'refused',
  'timedOut',
  'reset',
  'unreachable',
  'dns',
  'tls',
  'auth',
  'failed',
] as const;
export type LogResult = (typeof LOG_RESULTS)[number];

/** What the filter calls everything that did not go as the client wanted. */
export const PROBLEMS = 'problems';

export type ResultFields = Pick<
  TrafficLogView,
  'status' | 'network' | 'method' | 'http_status' | 'upload' | 'download' | 'error_kind' | 'close_reason'
>;

const OF_ERROR: Readonly<Record<string, LogResult>> = {
  connection_refused: 'refused',
  timeout: 'timedOut',
  connection_reset: 'reset',
  unreachable: 'unreachable',
  dns_error: 'dns',
  tls_error: 'tls',
  auth_failed: 'auth',
};

const TONES: Partial<Record<LogResult, BadgeTone>> = {
  completed: 'good',
  noAnswer: 'fair',
  closed: 'none',
  idle: 'none',
  stopped: 'none',
  rejected: 'fair',
};

/**
 * The service calls a connection `ok` if nothing went wrong on its way. A node may accept one whose target it cannot reach,
 * and its protocol has no way to say so: without a byte back, there was no answer.
 */
export function resultOf(log: ResultFields): LogResult {
  if (log.status === 'rejected') return 'rejected';
  if (log.status === 'failed') return OF_ERROR[log.error_kind ?? ''] ?? 'failed';
  if (log.close_reason === 'user') return 'closed';
  if (log.close_reason === 'shutdown') return 'stopped';
  if (!isAnswered(log)) return 'noAnswer';
  // Nobody says goodbye in UDP.
  return log.close_reason === 'idle' && log.network !== 'udp' ? 'idle' : 'completed';
}

/** The status of a CONNECT is this gateway's own; that of a request is an answer, even without a body. */
function isAnswered({ download, http_status: status, method }: ResultFields): boolean {
  return download > 0 || (status !== null && method !== null && method !== 'CONNECT');
}

export function toneOf(result: LogResult): BadgeTone {
  return TONES[result] ?? 'bad';
}

/** The rows that a filter by result leaves. `wanted`: empty for all. */
export function withResult<T extends ResultFields>(rows: readonly T[], wanted: string): readonly T[] {
  if (wanted === '') return rows;
  if (wanted === PROBLEMS) return rows.filter((row) => ['fair', 'bad'].includes(toneOf(resultOf(row))));
  return rows.filter((row) => resultOf(row) === wanted);
}
