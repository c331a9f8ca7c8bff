import type { RuleSetView } from '@gatehouse/contracts';
import { maskUrl } from '../data/mask-secrets.js';
import type { OwnRule } from './own-rule.store.js';
import type { RuleSetEntity } from '../data/rule-set.entity.js';
import { readerText } from '../reader-text.js';
import { UNREADABLE_URL } from '../sealed-url.js';

export interface RuleSetFacts {
  /** The opened URL; null for a set without one. */
  url: string | null;
  /** The set has a URL that cannot be opened. */
  isUnreadable: boolean;
  rule: OwnRule | null;
  /** Null if the rule's target is gone. */
  targetName: string | null;
  /** False masks credentials in the URL. */
  showSecrets: boolean;
}

export function toRuleSetView(row: RuleSetEntity, facts: RuleSetFacts): RuleSetView {
  const { url, rule, targetName, showSecrets } = facts;
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    behavior: row.behavior,
    format: row.format,
    url: url === null || showSecrets ? url : maskUrl(url),
    path: row.path,
    interval_sec: row.intervalSec,
    enabled: row.enabled,
    allow_private: row.allowPrivate,
    target: rule?.target ?? null,
    target_name: targetName,
    no_resolve: rule?.noResolve ?? false,
    priority: rule?.priority ?? null,
    rule_id: rule?.id ?? null,
    entry_count: row.entryCount,
    skipped_count: row.skippedCount,
    errors: row.errors,
    status: row.status,
    ...history(row),
    ...(facts.isUnreadable && { last_error: { ...UNREADABLE_URL, message: readerText(UNREADABLE_URL.message) } }),
    etag: row.etag,
    last_modified: row.lastModified,
    content_sha256: row.contentSha256,
    content_bytes: row.contentBytes,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function history(row: RuleSetEntity) {
  return {
    last_checked_at: iso(row.lastCheckedAt),
    last_updated_at: iso(row.lastUpdatedAt),
    last_success_at: iso(row.lastSuccessAt),
    next_refresh_at: iso(nextRefresh(row)),
    consecutive_failures: row.consecutiveFailures,
    last_status_code: row.lastStatusCode,
    last_error:
      row.lastErrorCode === null ? null : { code: row.lastErrorCode, message: readerText(row.lastErrorMessage ?? '') },
  };
}

/** An estimate: each schedule has its own phase, at most one interval after the last attempt. */
function nextRefresh({ type, enabled, lastCheckedAt, intervalSec }: RuleSetEntity): Date | null {
  if (type === 'inline' || !enabled || lastCheckedAt === null) return null;
  return new Date(lastCheckedAt.getTime() + intervalSec * 1000);
}

function iso(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}
