import type { RuleSetRefreshResult } from '@gatehouse/contracts';
import type { QueryDeepPartialEntity } from 'typeorm';
import type { SourceReply } from './content-source.js';
import type { ReadRuleSet } from '../kernel-config/read-rule-set.js';
import type { RuleSetFailure } from './rule-set-failure.js';
import type { RuleSetEntity } from '../data/rule-set.entity.js';

type ContentReply = Extract<SourceReply, { kind: 'content' }>;

/** The outcome of an attempt. */
export type RuleSetOutcome =
  | { kind: 'not_modified'; reply: SourceReply }
  | { kind: 'read'; reply: ContentReply; contentSha256: string; set: ReadRuleSet }
  | { kind: 'failed'; failure: RuleSetFailure }
  /** The set was changed while its source was being read. */
  | { kind: 'superseded' };

const NO_ERROR = { lastErrorCode: null, lastErrorMessage: null, consecutiveFailures: 0 };

/** The columns of the row after an attempt. */
export function afterAttempt(
  row: RuleSetEntity,
  outcome: RuleSetOutcome,
  { now, changed }: { now: Date; changed: boolean },
): QueryDeepPartialEntity<RuleSetEntity> {
  switch (outcome.kind) {
    case 'superseded':
      return { lastCheckedAt: now };
    case 'failed':
      return {
        lastCheckedAt: now,
        status: 'error',
        consecutiveFailures: row.consecutiveFailures + 1,
        lastStatusCode: outcome.failure.httpStatus,
        lastErrorCode: outcome.failure.reason,
        lastErrorMessage: outcome.failure.message,
      };
    case 'not_modified': {
      const { etag, lastModified, httpStatus } = outcome.reply;
      const validators = { etag: etag ?? row.etag, lastModified: lastModified ?? row.lastModified };
      const status = row.skippedCount > 0 ? 'warning' : 'ok';
      return { ...NO_ERROR, ...validators, status, lastCheckedAt: now, lastSuccessAt: now, lastStatusCode: httpStatus };
    }
    case 'read':
      return {
        ...NO_ERROR,
        ...readColumns(outcome),
        lastCheckedAt: now,
        lastSuccessAt: now,
        ...(changed && { lastUpdatedAt: now }),
      };
  }
}

function readColumns({ reply, contentSha256, set }: Extract<RuleSetOutcome, { kind: 'read' }>) {
  return {
    ...entryColumns(set),
    lastStatusCode: reply.httpStatus,
    etag: reply.etag,
    lastModified: reply.lastModified,
    contentSha256,
    contentBytes: reply.content.length,
  };
}

/** The columns that describe the entries of a set. */
export function entryColumns(set: ReadRuleSet) {
  return {
    status: set.skipped > 0 ? ('warning' as const) : ('ok' as const),
    entriesSha256: set.sha256,
    entryCount: set.count,
    skippedCount: set.skipped,
    errors: set.errors,
  };
}

export function toRefreshResult(
  row: RuleSetEntity,
  outcome: RuleSetOutcome,
  { changed, durationMs }: { changed: boolean; durationMs: number },
): RuleSetRefreshResult {
  const set = outcome.kind === 'read' ? outcome.set : null;
  return {
    rule_set_id: row.id,
    ...statusOf(outcome, changed),
    http_status: httpStatusOf(outcome),
    bytes: outcome.kind === 'read' ? outcome.reply.bytes : 0,
    duration_ms: Math.round(durationMs),
    entries: set?.count ?? row.entryCount,
    skipped: set?.skipped ?? row.skippedCount,
    errors: set?.errors ?? row.errors,
  };
}

function statusOf(
  outcome: RuleSetOutcome,
  changed: boolean,
): Pick<RuleSetRefreshResult, 'status' | 'reason' | 'message'> {
  if (outcome.kind === 'failed') {
    return { status: 'failed', reason: outcome.failure.reason, message: outcome.failure.message };
  }
  if (outcome.kind === 'superseded') {
    const message = 'The rule set was changed during the refresh; the reply belongs to its previous definition.';
    return { status: 'failed', reason: 'superseded', message };
  }
  return { status: changed ? 'updated' : 'not_modified', reason: null, message: null };
}

function httpStatusOf(outcome: RuleSetOutcome): number | null {
  if (outcome.kind === 'failed') return outcome.failure.httpStatus;
  return outcome.kind === 'superseded' ? null : outcome.reply.httpStatus;
}
