/** Limits for messages of the channel: ten thousand agents take about three megabytes. */
export const CHANNEL_LIMITS = { maxMessageBytes: 32 * 1024 * 1024 } as const;
