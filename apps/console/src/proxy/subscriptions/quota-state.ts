import type { SubscriptionTraffic } from '@gatehouse/contracts';

const SOON_MS = 7 * 86_400_000;

/** Used bytes and their share; null where the provider does not say enough. */
export function quotaOf({ upload, download, total }: SubscriptionTraffic): {
  used: number | null;
  ratio: number | null;
  tone: 'info' | 'fair' | 'bad';
} {
  const used = upload === null && download === null ? null : (upload ?? 0) + (download ?? 0);
  const ratio = used === null || total === null || total <= 0 ? null : used / total;
  return { used, ratio, tone: ratio === null || ratio < 0.8 ? 'info' : ratio < 0.95 ? 'fair' : 'bad' };
}

/** `bad`: it is over; `fair`: within a week. */
export function expiryTone(expireAt: string | null, now: number): 'none' | 'fair' | 'bad' {
  if (expireAt === null) return 'none';
  const left = Date.parse(expireAt) - now;
  return left <= 0 ? 'bad' : left < SOON_MS ? 'fair' : 'none';
}
