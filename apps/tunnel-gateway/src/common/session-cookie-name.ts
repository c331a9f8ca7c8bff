/** Cookie of a console login, `__Host-` prefixed where the console is reached over HTTPS. */
export const SESSION_COOKIE = 'gw_session';
