import { ForbiddenTargetError, OutboundGuard } from './outbound-guard.js';

const GUARD = new OutboundGuard();

/**
 * Validates the URL of a service that someone names, and returns it in its usual form. Names are checked again with each
 * request, because only then their addresses are known. `allowPrivate`: allows private networks, and no TLS.
 * @throws RangeError
 */
export function readOutboundUrl(text: string, allowPrivate: boolean): string {
  const url = URL.parse(text.trim());
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '' || url.password !== '') {
    throw new RangeError('must be an https address without user and password');
  }
  if (allowPrivate) return url.href;
  if (url.protocol !== 'https:') throw new RangeError('must begin with https://');
  try {
    GUARD.checkHost(url.hostname);
  } catch (error) {
    if (!(error instanceof ForbiddenTargetError)) throw error;
    throw new RangeError('must not lead into a private network');
  }
  return url.href;
}
