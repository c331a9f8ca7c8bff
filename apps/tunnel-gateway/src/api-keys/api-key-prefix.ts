/** Prefix of this service's keys. */
export const API_KEY_PREFIX = 'gtk_';
