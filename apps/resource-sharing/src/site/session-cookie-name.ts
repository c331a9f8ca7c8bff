/** Cookie of a site login, `__Host-` prefixed where the site is reached over HTTPS. */
export const SESSION_COOKIE = 'gatehouse_site';
