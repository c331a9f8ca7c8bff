import { ForbiddenTargetError, OutboundGuard } from '@gatehouse/net';

const GUARD = new OutboundGuard();

/**
 * The address of who is asked about visitors, and of authorization servers. Names are looked at again when they are asked:
 * only then it is known where they lead. `mayReachInside`: into the gateway's own network, and without TLS.
 * @throws RangeError
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
