import type { Page } from './page.js';

/** In ascending order; a filter includes the level and those after it. `silent`: nothing. */
export const RUNTIME_LOG_LEVELS = ['debug', 'info', 'warning', 'error', 'silent'] as const;
export type RuntimeLogLevel = Exclude<(typeof RUNTIME_LOG_LEVELS)[number], 'silent'>;

export const RUNTIME_LOG_SOURCES = ['kernel', 'api', 'worker'] as const;
export type RuntimeLogSource = (typeof RUNTIME_LOG_SOURCES)[number];

/** One row of `GET /logs`. */
export interface RuntimeLogView {
  id: number;
  time: string;
  level: RuntimeLogLevel;
  /** The process that wrote the line. */
  source: RuntimeLogSource;
  /** The part of the process. */
  context: string | null;
  message: string;
  fields: Record<string, unknown>;
  request_id: string | null;
  /** The name of the kernel that wrote the line; null while there was only one. */
  kernel: string | null;
}

/** `GET /logs`, newest first. */
export interface RuntimeLogPage extends Page<RuntimeLogView> {
  /** Pass it as `cursor` for the next page; null on the last page. */
  next_cursor: string | null;
}
