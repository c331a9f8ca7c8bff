/** First byte of a stream of a direct path. */
export const STREAM_KIND = { connection: 1, heartbeat: 2 } as const;
/** Interval at which the visitor sends a sign of life, which the agent answers. */
export const HEARTBEAT_MS = 5000;
export const SILENT_MS = 15_000;
