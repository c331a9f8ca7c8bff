import { ForbiddenTargetError, OutboundGuard } from '@gatehouse/net';

const GUARD = new OutboundGuard();

/**
 * Validates the URL of a callback or an authorization server. Names are checked again with each request, because only
 * then their addresses are known. `mayReachInside`: allows the gateway's own network, and no TLS. @throws RangeError
 */
export function parseCallbackUrl(text: string, mayReachInside: boolean): string {
  const url = URL.parse(text.trim());
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '' || url.password !== '') {
    throw new RangeError('must be an https address without user and password');
  }
  if (mayReachInside) return url.href;
  if (url.protocol !== 'https:') throw new RangeError('must begin with https://');
  try {
    GUARD.checkHost(url.hostname);
  } catch (error) {
    if (!(error instanceof ForbiddenTargetError)) throw error;
    throw new RangeError('must not lead into the network of the gateway');
  }
  return url.href;
}
