import type { SecretBox } from '@gatehouse/persistence';
import type { SubscriptionEntity } from '../data/subscription.entity.js';
import { tryOpenUrl } from '../sealed-url.js';

/**
 * Whether an address that a profile names may be a private one. An administrator allowed that for the subscription's own
 * server, not for whatever addresses its document names: it could lead to services that only this machine reaches.
 */
export function mayReachPrivate(
  box: SecretBox,
  owner: Pick<SubscriptionEntity, 'id' | 'sealedUrl' | 'allowPrivate'>,
  url: string,
): boolean {
  const own = tryOpenUrl(box, 'subscriptions', owner);
  if (!owner.allowPrivate || own === null) return false;
  return URL.parse(own)?.origin === URL.parse(url)?.origin;
}
