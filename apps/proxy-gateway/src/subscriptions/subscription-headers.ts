import type { SubscriptionProfile, SubscriptionTraffic } from '@gatehouse/contracts';
import type { ReplyHeaders } from './subscription-fetcher.js';

const MAX_TEXT = 500;
/** Links that a console may show; a provider must not be able to plant `javascript:` or `file:`. */
const SHOWN_SCHEMES = new Set(['http:', 'https:', 'tg:', 'mailto:']);

/** What pseudo-nodes said of the quota. */
export interface StatedQuota {
  remainingBytes: number | null;
  totalBytes: number | null;
  expireAt: Date | null;
}

/**
 * `subscription-userinfo: upload=1; download=2; total=3; expire=4`: any order, any part missing, decimals allowed;
 * 0 as `total` or `expire` means no limit. Where the header is silent, the pseudo-nodes speak.
 */
export function readTraffic(headers: ReplyHeaders, stated: StatedQuota): SubscriptionTraffic | null {
  const info = userinfo(headers['subscription-userinfo'] ?? '');
  const total = positive(info.get('total')) ?? stated.totalBytes;
  const upload = info.get('upload') ?? null;
  const download = info.get('download') ?? null;
  const used = upload === null && download === null ? null : (upload ?? 0) + (download ?? 0);
  const remaining = total !== null && used !== null ? Math.max(0, total - used) : stated.remainingBytes;
  const expireAt = expiry(info.get('expire')) ?? stated.expireAt;
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

function userinfo(header: string): Map<string, number> {
  const pairs = header.split(/[;,]/).map((part) => part.split('='));
  return new Map(
    pairs.flatMap(([key, value]): [string, number][] => {
      const number = Math.trunc(Number(value?.trim() || 'x'));
      return Number.isSafeInteger(number) && number >= 0 ? [[key!.trim().toLowerCase(), number]] : [];
    }),
  );
}

function positive(value: number | undefined): number | null {
  return value === undefined || value === 0 ? null : value;
}

/** Seconds since the epoch; some panels send milliseconds. */
function expiry(value: number | undefined): Date | null {
  const stated = positive(value);
  if (stated === null) return null;
  const date = new Date(stated > 100_000_000_000 ? stated : stated * 1000);
  return Number.isNaN(date.getTime()) ? null : date;
}

export function readProfile(headers: ReplyHeaders, notices: readonly string[]): SubscriptionProfile | null {
  const hours = Number(headers['profile-update-interval'] ?? Number.NaN);
  const profile: SubscriptionProfile = {
    title: text(headers['profile-title']) ?? fileName(headers['content-disposition'] ?? ''),
    web_page_url: link(headers['profile-web-page-url']),
    support_url: link(headers['support-url']),
    update_interval_hours: Number.isFinite(hours) && hours > 0 && hours <= 8_760 ? hours : null,
    announce: text(headers['announce']),
    notices: notices.slice(0, 20).map(cut),
  };
  const said = Object.values(profile).some((value) => (Array.isArray(value) ? value.length > 0 : value !== null));
  return said ? profile : null;
}

/** Plain, or `base64:` and UTF-8 in base64. */
function text(value: string | undefined): string | null {
  if (value === undefined) return null;
  const plain = value.startsWith('base64:') ? Buffer.from(value.slice(7), 'base64').toString('utf8') : value;
  const clean = plain.replace(/\p{Cc}+/gu, ' ').trim();
  return clean === '' ? null : cut(clean);
}

/** Half a character at the cut becomes U+FFFD: JSON in the database takes none. */
function cut(value: string): string {
  return value.slice(0, MAX_TEXT).toWellFormed();
}

function link(value: string | undefined): string | null {
  const url = URL.parse(value?.trim() ?? '');
  return url && SHOWN_SCHEMES.has(url.protocol) && url.href.length <= 2_000 ? url.href : null;
}

/** RFC 6266: `filename*=UTF-8''...` before `filename="..."`, without its extension. */
function fileName(disposition: string): string | null {
  const extended = /filename\*\s*=\s*utf-8''([^;]+)/i.exec(disposition)?.[1];
  const simple = /filename\s*=\s*(?:"([^"]*)"|([^;]+))/i.exec(disposition);
  const name = text(extended === undefined ? (simple?.[1] ?? simple?.[2]) : percentDecoded(extended));
  return name === null ? null : name.replace(/\.(ya?ml|txt|conf|json)$/i, '') || null;
}

function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value.trim());
  } catch {
    // Not percent-encoded after all: shown as it came.
    return value;
  }
}
