/** What keys of this service begin with. */
export const API_KEY_PREFIX = 'gtk_';
