/**
 * `common`: the Common Log Format; `combined`: with `Referer` and `User-Agent`; `vhost_combined`: also the host, in front,
 * as Apache and nginx call them.
 */
export const ACCESS_LOG_FORMATS = ['combined', 'common', 'vhost_combined'] as const;
export type AccessLogFormat = (typeof ACCESS_LOG_FORMATS)[number];
