import type { SubscriptionTraffic } from '@gatehouse/contracts';

/**
 * The value of `Subscription-Userinfo`: the sum over subscriptions, and the earliest of their ends. Undefined if none of
 * them states a quota. A sum over one that states no total would be wrong, so `total` is left out then.
 */
export function formatUserinfo(traffic: readonly (SubscriptionTraffic | null)[]): string | undefined {
  const stated = traffic.filter((one) => one !== null && (one.total ?? one.download ?? one.upload) !== null);
  if (stated.length === 0) return undefined;
  const sum = (key: 'upload' | 'download' | 'total'): number =>
    stated.reduce((total, one) => total + (one?.[key] ?? 0), 0);
  const ends = stated.flatMap((one) => (one?.expire_at ? [Date.parse(one.expire_at) / 1000] : []));
  return [
    `upload=${sum('upload')}`,
    `download=${sum('download')}`,
    ...(stated.every((one) => one?.total != null) ? [`total=${sum('total')}`] : []),
    ...(ends.length === 0 ? [] : [`expire=${Math.floor(Math.min(...ends))}`]),
  ].join('; ');
}
