import type { Page } from './page.js';

/** In ascending order; asking for one means it and those after it. `silent`: nothing. */
export const RUNTIME_LOG_LEVELS = ['debug', 'info', 'warning', 'error', 'silent'] as const;
export type RuntimeLogLevel = Exclude<(typeof RUNTIME_LOG_LEVELS)[number], 'silent'>;

export const RUNTIME_LOG_SOURCES = ['kernel', 'api', 'worker'] as const;
export type RuntimeLogSource = (typeof RUNTIME_LOG_SOURCES)[number];

/** One row of `GET /logs`. */
export interface RuntimeLogView {
  id: number;
  time: string;
  level: RuntimeLogLevel;
  /** The process that spoke. */
  source: RuntimeLogSource;
  /** The part of it. */
  context: string | null;
  message: string;
  fields: Record<string, unknown>;
  request_id: string | null;
}

/** `GET /logs`, newest first. */
export interface RuntimeLogPage extends Page<RuntimeLogView> {
  /** Hand it back as `cursor`; null on the last page. */
  next_cursor: string | null;
}
