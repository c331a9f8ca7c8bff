/** Tests here start services, which takes a minute on a busy machine. */
export const TIME_LIMIT = { timeout: 300_000 } as const;
