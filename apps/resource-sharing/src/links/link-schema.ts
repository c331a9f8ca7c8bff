/** In a pattern: an address on the web, whose host and port are certainly valid. */
const ADDRESS =
  'https?://(?:[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\\.)+[A-Za-z]{2,}(?::(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?(?=[/?#\\s]|$)';
const MAGNET = 'magnet:\\?xt=urn:btih:[0-9A-Fa-f]{40}(?=[&\\s]|$)';
const ED2K = 'ed2k://\\|file\\|[^|/\\s]+\\|[1-9][0-9]{0,9}\\|[0-9A-Fa-f]{32}\\|/';

/** A text with a link in it, for the interface description. `parseShareLink` also finds a few more, such as `115.com/s/…`. */
export const LINK_TEXT = { pattern: `(?:${ADDRESS}|${MAGNET}|${ED2K})` };

/** The access code of a link, as `parseAccessCode` reads it. */
export const ACCESS_CODE = { pattern: '^[A-Za-z0-9]{0,16}$' };
