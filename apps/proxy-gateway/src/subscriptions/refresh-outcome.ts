import type { RefreshReason, RefreshResult } from '@gatehouse/contracts';
import type { RefreshPlan } from './plan-refresh.js';
import { nextRefreshAt, settleInterval } from './refresh-times.js';
import type { Attempt, Route } from './reply-reader.js';
import { readProfile, readTraffic } from './subscription-headers.js';
import type { SubscriptionEntity } from '../data/subscription.entity.js';

/** The outcome of an attempt, before it becomes columns and messages. */
export type RefreshOutcome =
  | Exclude<Attempt, { kind: 'read' }>
  | (Extract<Attempt, { kind: 'read' }> & { plan: RefreshPlan })
  /** The subscription was changed during the fetch. */
  | { kind: 'superseded'; via: Route };

export type RefreshChanges = Partial<SubscriptionEntity>;

export interface RefreshMoment {
  now: Date;
  durationMs: number;
  /** The number of nodes before the refresh. */
  nodesBefore: number;
}

/** The time of the attempt, and the user agent to use unless another one works. */
export interface AttemptFacts {
  now: Date;
  chosenAgent: string;
}

/** The columns of the subscription after an attempt. */
export function changesAfter(row: SubscriptionEntity, outcome: RefreshOutcome, facts: AttemptFacts): RefreshChanges {
  // Not a failure: the changed subscription will be fetched soon.
  if (outcome.kind === 'superseded') return { dispatchedAt: null };
  const changes = changesOf(row, outcome, facts);
  const profile = changes.profile ?? row.profile;
  const rhythm = settleInterval(row, profile);
  const retryAfterMs = outcome.kind === 'failed' ? outcome.failure.retryAfterMs : null;
  const failures = changes.consecutiveFailures ?? 0;
  const next = nextRefreshAt({ intervalSec: rhythm.intervalSec, failures, retryAfterMs }, facts.now);
  return { ...changes, ...rhythm, nextRefreshAt: row.enabled ? next : null, dispatchedAt: null };
}

function changesOf(
  row: SubscriptionEntity,
  outcome: Exclude<RefreshOutcome, { kind: 'superseded' }>,
  { now, chosenAgent }: AttemptFacts,
): RefreshChanges {
  switch (outcome.kind) {
    case 'failed':
      return {
        ...refused(row, outcome.failure.reason, outcome.failure.message, now),
        status: 'error',
        lastStatusCode: outcome.failure.httpStatus,
      };
    case 'not_modified':
      return {
        ...accepted(row.skippedCount, now),
        ...headersOf(row, outcome.fetched.headers),
        lastStatusCode: outcome.fetched.httpStatus,
      };
    case 'read':
      return {
        ...changesAfterReading(row, outcome, now),
        ...(outcome.read.reply.kind === 'nodes'
          ? { workingUserAgent: outcome.userAgent === chosenAgent ? null : outcome.userAgent }
          : {}),
        lastStatusCode: outcome.fetched.httpStatus,
      };
  }
}

/**
 * The quota changes even if the nodes do not. "Not modified" replies have no pseudo-nodes, so what those said stays.
 */
function headersOf(row: SubscriptionEntity, headers: Record<string, string>): RefreshChanges {
  const traffic = readTraffic(headers, { remainingBytes: null, totalBytes: null, expireAt: null });
  const profile = readProfile(headers, []);
  return {
    ...(traffic ? { traffic } : {}),
    ...(profile ? { profile: { ...profile, notices: row.profile?.notices ?? [] } } : {}),
  };
}

function changesAfterReading(
  row: SubscriptionEntity,
  { fetched, read, plan }: Extract<RefreshOutcome, { kind: 'read' }>,
  now: Date,
): RefreshChanges {
  // Every real reply of the provider has its quota, even if its nodes are rejected.
  const stated = {
    ...(read.traffic ? { traffic: read.traffic } : {}),
    ...(read.profile ? { profile: read.profile } : {}),
  };
  if (plan.kind === 'keep') return { ...refused(row, plan.reason, plan.message, now), status: 'warning', ...stated };
  const changed = plan.add.length + plan.update.length + plan.remove.length > 0;
  return {
    ...accepted(read.skipped, now),
    ...stated,
    ...(changed ? { lastUpdatedAt: now } : {}),
    detectedType: read.detectedType,
    duplicateCount: read.duplicates + plan.duplicates,
    skippedCount: read.skipped,
    // Only a reply that was used may be confirmed by "not modified" later.
    etag: fetched.headers['etag'] ?? null,
    lastModified: fetched.headers['last-modified'] ?? null,
    contentSha256: read.contentSha256,
    contentBytes: read.contentBytes,
  };
}

function accepted(skipped: number, now: Date): RefreshChanges {
  return {
    status: skipped > 0 ? 'warning' : 'ok',
    lastCheckedAt: now,
    lastSuccessAt: now,
    consecutiveFailures: 0,
    lastErrorCode: null,
    lastErrorMessage: null,
  };
}

function refused(row: SubscriptionEntity, reason: RefreshReason, message: string, now: Date): RefreshChanges {
  return {
    lastCheckedAt: now,
    consecutiveFailures: row.consecutiveFailures + 1,
    lastErrorCode: reason,
    lastErrorMessage: message,
  };
}

const SUPERSEDED =
  'The subscription was changed during the refresh; the reply belongs to its previous definition. It will be fetched again soon.';

/** The result for the caller that requested the refresh. */
export function resultOf(row: SubscriptionEntity, outcome: RefreshOutcome, moment: RefreshMoment): RefreshResult {
  const blank = { ...blankResult(row, moment), via: outcome.via };
  switch (outcome.kind) {
    case 'failed': {
      const { reason, message, httpStatus } = outcome.failure;
      return { ...blank, status: 'failed', reason, message, http_status: httpStatus };
    }
    case 'not_modified':
      return {
        ...blank,
        status: 'not_modified',
        http_status: outcome.fetched.httpStatus,
        traffic: headersOf(row, outcome.fetched.headers).traffic ?? row.traffic,
      };
    case 'superseded':
      return { ...blank, status: 'kept_previous', reason: 'superseded', message: SUPERSEDED };
    case 'read':
      return { ...blank, ...readResult(row, outcome) };
  }
}

function blankResult(row: SubscriptionEntity, { durationMs, nodesBefore }: RefreshMoment): RefreshResult {
  return {
    subscription_id: row.id,
    status: 'failed',
    reason: null,
    message: null,
    http_status: null,
    bytes: 0,
    duration_ms: Math.round(durationMs),
    via: 'direct',
    parsed: 0,
    added: 0,
    updated: 0,
    retained: nodesBefore,
    removed: 0,
    duplicates: 0,
    ignored: 0,
    skipped: 0,
    skipped_entries: [],
    traffic: row.traffic,
    rules: null,
  };
}

function readResult(
  row: SubscriptionEntity,
  { fetched, read, plan }: Extract<RefreshOutcome, { kind: 'read' }>,
): Partial<RefreshResult> {
  const seen = {
    http_status: fetched.httpStatus,
    bytes: fetched.receivedBytes,
    parsed: read.parsed,
    duplicates: read.duplicates,
    ignored: read.ignored,
    skipped: read.skipped,
    skipped_entries: read.skippedEntries,
    traffic: read.traffic ?? row.traffic,
  };
  if (plan.kind === 'keep') return { ...seen, status: 'kept_previous', reason: plan.reason, message: plan.message };
  const { add, update, retain, remove } = plan;
  const same = read.contentSha256 === row.contentSha256 && add.length + update.length + remove.length === 0;
  return {
    ...seen,
    status: same ? 'not_modified' : 'updated',
    added: add.length,
    updated: update.length,
    retained: retain.length,
    removed: remove.length,
    duplicates: read.duplicates + plan.duplicates,
  };
}
