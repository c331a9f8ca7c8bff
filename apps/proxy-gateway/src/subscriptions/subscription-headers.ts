import type { SubscriptionProfile, SubscriptionTraffic } from '@gatehouse/contracts';
import { parseProfileHeaders, parseUserinfo } from '@gatehouse/subscription-formats';
import type { ReplyHeaders } from '../documents/subscription-fetcher.js';

const MAX_NOTICE = 500;
const MAX_NOTICES = 20;
/** Links that a console may show; a provider must not be able to plant `javascript:` or `file:`. */
const SHOWN_SCHEMES = new Set(['http:', 'https:', 'tg:', 'mailto:']);

/** The quota as stated by pseudo-nodes. */
export interface StatedQuota {
  remainingBytes: number | null;
  totalBytes: number | null;
  expireAt: Date | null;
}

/**
 * The quota in `subscription-userinfo`; 0 as `total` means no limit. Fields missing in the header are taken from the
 * pseudo-nodes.
 */
export function readTraffic(headers: ReplyHeaders, stated: StatedQuota): SubscriptionTraffic | null {
  const info = parseUserinfo(headers['subscription-userinfo']);
  const total = (info?.total === 0 ? null : info?.total) ?? stated.totalBytes;
  const upload = info?.upload ?? null;
  const download = info?.download ?? null;
  const used = upload === null && download === null ? null : (upload ?? 0) + (download ?? 0);
  const remaining = total !== null && used !== null ? Math.max(0, total - used) : stated.remainingBytes;
  const expireAt = info?.expireAt ?? stated.expireAt;
  if ([total, used, remaining, expireAt].every((value) => value === null)) return null;
  return {
    upload,
    download,
    total,
    remaining,
    used_percent: usedPercent(total, used, remaining),
    expire_at: expireAt?.toISOString() ?? null,
  };
}

function usedPercent(total: number | null, used: number | null, remaining: number | null): number | null {
  if (total === null || (used === null && remaining === null)) return null;
  const share = (used ?? total - remaining!) / total;
  return Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
}

export function readProfile(headers: ReplyHeaders, notices: readonly string[]): SubscriptionProfile | null {
  const said = parseProfileHeaders(headers);
  const profile: SubscriptionProfile = {
    title: said.title ?? withoutExtension(said.filename),
    web_page_url: link(headers['profile-web-page-url']),
    support_url: link(headers['support-url']),
    update_interval_hours: said.updateIntervalHours,
    announce: said.announce,
    notices: notices.slice(0, MAX_NOTICES).map(cut),
  };
  const anything = Object.values(profile).some((value) => (Array.isArray(value) ? value.length > 0 : value !== null));
  return anything ? profile : null;
}

/** An unpaired surrogate at the cut becomes U+FFFD, since the database refuses it in JSON. */
function cut(value: string): string {
  return value.slice(0, MAX_NOTICE).toWellFormed();
}

function link(value: string | undefined): string | null {
  const url = URL.parse(value?.trim() ?? '');
  return url && SHOWN_SCHEMES.has(url.protocol) && url.href.length <= 2_000 ? url.href : null;
}

function withoutExtension(fileName: string | null): string | null {
  return fileName?.replace(/\.(ya?ml|txt|conf|json)$/i, '') || null;
}
