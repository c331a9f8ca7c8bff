/** Of the channel's messages: ten thousand agents are about three megabytes. */
export const CHANNEL_LIMITS = { maxMessageBytes: 32 * 1024 * 1024 } as const;
