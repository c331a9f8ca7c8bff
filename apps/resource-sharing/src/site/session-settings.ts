/** Cookie of a site login, `__Host-` prefixed where the site is reached over HTTPS. */
export const SESSION_COOKIE = 'gatehouse_site';

const DAY_SECONDS = 86_400;

/** The maximum time of a login after its last use, and in total. */
export const SESSION_LIFETIME = { idleSeconds: 14 * DAY_SECONDS, absoluteSeconds: 90 * DAY_SECONDS };
