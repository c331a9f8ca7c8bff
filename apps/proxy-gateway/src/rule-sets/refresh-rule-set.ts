import { createHash } from 'node:crypto';
import type { RuleSetRefreshResult } from '@gatehouse/contracts';
import { UnitOfWork, SECRET_BOX } from '@gatehouse/persistence';
import type { SecretBox } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { RuleSetFileError } from '@gatehouse/proxy-kernel';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { announceRules } from '../rules/rule-changes.js';
import { openUrl } from '../sealed-url.js';
import { ContentSource } from './content-source.js';
import type { SourceReply } from './content-source.js';
import type { ReadRuleSet } from '../kernel-config/read-rule-set.js';
import { afterAttempt, toRefreshResult } from './refresh-outcome.js';
import type { RuleSetOutcome } from './refresh-outcome.js';
import { writeEntries } from './rule-set-entries.store.js';
import { RuleSetFailure } from './rule-set-failure.js';
import { RuleSetParser } from './rule-set-parser.js';
import { RuleSetEntity } from '../data/rule-set.entity.js';

/** A reply is valid only if these columns are unchanged since the request. */
const ASKED_BY = ['type', 'behavior', 'format', 'sealedUrl', 'path'] as const;

/** Replaces the entries of a set with those of its source, completely or not at all. */
@Injectable()
export class RefreshRuleSet {
  private readonly logger = new Logger('RuleSets');
  private readonly underWay = new Map<string, Promise<RuleSetRefreshResult>>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly source: ContentSource,
    private readonly parser: RuleSetParser,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /**
   * Calls during a refresh of the same set get its result.
   * @throws AppError NOT_FOUND. Errors of the source are part of the result instead.
   */
  run(id: number, force = false): Promise<RuleSetRefreshResult> {
    const key = `${id} ${force}`;
    const running = this.underWay.get(key);
    if (running) return running;
    const run = this.refresh(id, force).finally(() => this.underWay.delete(key));
    this.underWay.set(key, run);
    return run;
  }

  private async refresh(id: number, force: boolean): Promise<RuleSetRefreshResult> {
    const began = performance.now();
    const before = await this.unitOfWork.run((tx) => tx.findOneBy(RuleSetEntity, { id }));
    if (!before) throw ruleSetNotFound(id);
    const outcome = await this.attempt(before, force);
    const { result, name } = await this.unitOfWork.run((tx) => this.apply(tx, before, outcome, began));
    this.log(name, result);
    return result;
  }

  private async attempt(row: RuleSetEntity, force: boolean): Promise<RuleSetOutcome> {
    try {
      const { id, sealedUrl } = row;
      const url = sealedUrl === null ? null : openUrl(this.box, 'rule_sets', { id, sealedUrl });
      const reply = await this.source.get(row, { url, force });
      if (reply.kind === 'not_modified') return { kind: 'not_modified', reply };
      const contentSha256 = createHash('sha256').update(reply.content).digest('hex');
      if (!force && contentSha256 === row.contentSha256) return { kind: 'not_modified', reply };
      return { kind: 'read', reply, contentSha256, set: await this.parse(reply, row) };
    } catch (error) {
      if (error instanceof RuleSetFailure) return { kind: 'failed', failure: error };
      throw error;
    }
  }

  private async parse(reply: Extract<SourceReply, { kind: 'content' }>, row: RuleSetEntity): Promise<ReadRuleSet> {
    const { httpStatus } = reply;
    try {
      const set = await this.parser.read(reply.content, row);
      if (set.count > 0) return set;
      const found = set.skipped === 0 ? 'It contains no entries.' : `None of its ${set.skipped} entries can be read.`;
      throw new RuleSetFailure('empty_result', found, { httpStatus });
    } catch (cause) {
      if (!(cause instanceof RuleSetFileError)) throw cause;
      throw new RuleSetFailure('parse_error', `It is not a valid rule set: ${cause.message}.`, { cause, httpStatus });
    }
  }

  private async apply(tx: EntityManager, before: RuleSetEntity, attempted: RuleSetOutcome, began: number) {
    const row = await tx.findOne(RuleSetEntity, { where: { id: before.id }, lock: { mode: 'pessimistic_write' } });
    if (!row) throw ruleSetNotFound(before.id);
    const superseded = ASKED_BY.some((key) => row[key] !== before[key]);
    const outcome: RuleSetOutcome = superseded ? { kind: 'superseded' } : attempted;
    const changed = outcome.kind === 'read' && outcome.set.sha256 !== row.entriesSha256;
    if (outcome.kind === 'read' && changed) {
      await writeEntries(tx, row.id, outcome.set.data);
      await announceRules(tx);
    }
    await tx.update(RuleSetEntity, row.id, afterAttempt(row, outcome, { now: new Date(), changed }));
    const result = toRefreshResult(row, outcome, { changed, durationMs: performance.now() - began });
    return { result, name: row.name };
  }

  private log(
    name: string,
    { rule_set_id, status, reason, message, entries, duration_ms }: RuleSetRefreshResult,
  ): void {
    const fields = { rule_set_id, status, reason, entries, duration_ms };
    if (reason === null) this.logger.log(`Rule set ${name} refreshed`, fields);
    else this.logger.warn(`Rule set ${name} keeps its entries: ${message ?? reason}`, fields);
  }
}

export function ruleSetNotFound(id: number): AppError {
  return new AppError('NOT_FOUND', `There is no rule set ${id}.`);
}
