import type { SubscriptionView } from '@gatehouse/contracts';
import { redactText } from '@gatehouse/platform';
import { maskUrl } from '../data/mask-secrets.js';
import type { SubscriptionEntity } from '../data/subscription.entity.js';
import { readerText } from '../reader-text.js';
import { UNREADABLE_URL } from '../sealed-url.js';

export interface SubscriptionFacts {
  /** The opened URL; null if it cannot be opened. */
  url: string | null;
  nodeCount: number;
  aliveCount: number;
  /** False masks credentials in the URL. */
  showSecrets: boolean;
}

export function toSubscriptionView(row: SubscriptionEntity, facts: SubscriptionFacts): SubscriptionView {
  const url = facts.url ?? '';
  return {
    id: row.id,
    name: row.name,
    url: facts.showSecrets || url === '' ? url : maskUrl(url),
    type: row.type,
    interval_sec: row.intervalSec,
    interval_source: row.intervalSource,
    enabled: row.enabled,
    user_agent: row.userAgent,
    allow_private: row.allowPrivate,
    bring_rules: row.bringRules,
    profile_id: row.profileId,
    detected_type: row.detectedType,
    node_count: facts.nodeCount,
    alive_count: facts.aliveCount,
    duplicate_count: row.duplicateCount,
    skipped_count: row.skippedCount,
    status: row.status,
    ...history(row),
    ...(facts.url === null && { last_error: { ...UNREADABLE_URL, message: readerText(UNREADABLE_URL.message) } }),
    etag: row.etag,
    last_modified: row.lastModified,
    content_sha256: row.contentSha256,
    content_bytes: row.contentBytes,
    traffic: row.traffic,
    profile: facts.showSecrets ? row.profile : maskProfile(row.profile),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** Providers put the subscription's token into the links to their pages. */
function maskProfile(profile: SubscriptionView['profile']): SubscriptionView['profile'] {
  if (profile === null) return null;
  const { web_page_url: page, support_url: support, title, announce } = profile;
  return {
    ...profile,
    title: title && redactText(title),
    announce: announce && redactText(announce),
    web_page_url: page && maskUrl(page),
    support_url: support && maskUrl(support),
  };
}

function history(row: SubscriptionEntity) {
  return {
    last_checked_at: iso(row.lastCheckedAt),
    last_updated_at: iso(row.lastUpdatedAt),
    last_success_at: iso(row.lastSuccessAt),
    next_refresh_at: iso(row.nextRefreshAt),
    consecutive_failures: row.consecutiveFailures,
    last_status_code: row.lastStatusCode,
    last_error:
      row.lastErrorCode === null ? null : { code: row.lastErrorCode, message: readerText(row.lastErrorMessage ?? '') },
  };
}

function iso(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}
