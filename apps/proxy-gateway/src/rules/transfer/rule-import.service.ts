import type { ImportError, ImportMode, ImportResult } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { KernelService } from '../../kernel-process/kernel.service.js';
import { readerText } from '../../reader-text.js';
import { MANUAL, readRules, writePlan } from '../rule-rows.store.js';
import { untakenRules } from '../kernel-rules.js';
import { announceRules, lockRules } from '../rule-changes.js';
import { loadTargetNames } from '../target-names.js';
import type { TargetNames } from '../target-names.js';
import { cut } from './import-input.js';
import { planImport } from './plan-import.js';
import type { ImportPlan, WantedRule } from './plan-import.js';
import { readRulesArray, readRulesText } from './read-rules.js';
import type { ReadRules } from './read-rules.js';
import type { RuleImportBody } from './rule-transfer.dto.js';

const SHOWN_DETAILS = 20;

interface Options {
  mode: ImportMode;
  dryRun: boolean;
  allowEmpty: boolean;
  /** Replaces targets that do not exist. */
  defaultTarget: string | undefined;
}

/**
 * Imports many manual rules at once. Each entry is checked independently, and all valid ones are stored in one
 * transaction.
 */
@Injectable()
export class RuleImport {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly kernel: KernelService,
  ) {}

  /**
   * @throws AppError INVALID_ARGUMENT for input that is not a list of rules; UNPROCESSABLE if no rule would be left, or
   * for a default target that does not exist.
   */
  async run(body: RuleImportBody, query: { dryRun: boolean; allowEmpty: boolean }): Promise<ImportResult> {
    const read = await this.withoutUntaken(await readInput(body));
    const mode = body.mode ?? 'append';
    const dryRun = query.dryRun || body.dry_run === true;
    const options: Options = { mode, dryRun, allowEmpty: query.allowEmpty, defaultTarget: body.default_target };
    const result = await this.unitOfWork.run(async (tx) => {
      await lockRules(tx);
      const { wanted, rejected } = resolveAll(read, await loadTargetNames(tx), options);
      refuseEmpty(options, wanted.length, rejected);
      const plan = planImport(mode, await readRules(tx, MANUAL), wanted);
      if (!dryRun) {
        await writePlan(tx, MANUAL, plan);
        await announceRules(tx);
      }
      return toResult(options, read, { plan, rejected });
    });
    if (!dryRun) await this.kernel.sync();
    return result;
  }

  /** Rejects the rules that the running kernel does not take. */
  private async withoutUntaken(read: ReadRules): Promise<ReadRules> {
    const untaken = await untakenRules(
      this.kernel,
      read.rules.map(({ definition }) => definition),
    );
    if (untaken.size === 0) return read;
    const rejected = read.rules.flatMap(({ index, line, input }, at): ImportError[] => {
      const message = untaken.get(at);
      return message === undefined ? [] : [{ index, line, code: 'INVALID_RULE', message, input: cut(input) }];
    });
    const rules = read.rules.filter((_rule, at) => !untaken.has(at));
    return { ...read, rules, rejected: [...read.rejected, ...rejected] };
  }
}

function readInput({ text, rules }: RuleImportBody): Promise<ReadRules> {
  if (text !== undefined && rules === undefined) return readRulesText(text);
  if (rules !== undefined && text === undefined) return readRulesArray(rules);
  const message = text === undefined ? 'text or rules is required' : 'text and rules exclude each other';
  const details = ['text', 'rules'].map((field) => ({ field, message }));
  throw new AppError('INVALID_ARGUMENT', message, { details });
}

function resolveAll(
  { rules, rejected }: ReadRules,
  names: TargetNames,
  { defaultTarget }: Options,
): { wanted: WantedRule[]; rejected: ImportError[] } {
  const fallback = defaultTarget === undefined ? null : defaultTag(names, defaultTarget);
  const wanted: WantedRule[] = [];
  const refused = [...rejected];
  for (const { index, line, input, definition, enabled, note, priority, afterProfile } of rules) {
    const found = names.find(definition.target);
    const tag = 'tag' in found ? found.tag : fallback;
    if (tag !== null) wanted.push({ ...definition, target: tag, enabled, note, priority, afterProfile });
    else if ('problem' in found) {
      refused.push({ index, line, code: found.problem, message: `target: ${found.message}`, input: cut(input) });
    }
  }
  return { wanted, rejected: refused.sort((a, b) => a.index - b.index) };
}

function defaultTag(names: TargetNames, text: string): string {
  const found = names.find(text);
  if ('tag' in found) return found.tag;
  throw new AppError('UNPROCESSABLE', `default_target: ${found.message}`, {
    details: [{ field: 'default_target', message: found.message }],
  });
}

/** Replacing all rules by a file without any is most likely a mistake. */
function refuseEmpty({ mode, allowEmpty }: Options, wanted: number, rejected: readonly ImportError[]): void {
  if (mode === 'append' || wanted > 0 || allowEmpty) return;
  const details = rejected.slice(0, SHOWN_DETAILS).map(({ index, line, message }) => ({
    field: line === null ? `rules[${index}]` : `text line ${line}`,
    message,
  }));
  throw new AppError('UNPROCESSABLE', 'It contains no valid rule; allow_empty=true removes all rules', {
    details,
  });
}

function toResult(
  { mode, dryRun }: Options,
  { format, total }: ReadRules,
  { plan, rejected }: { plan: ImportPlan; rejected: ImportError[] },
): ImportResult {
  const { created, updated, unchanged, duplicate, removed } = plan.counts;
  const parsed = created + updated + unchanged + duplicate;
  return {
    mode,
    dry_run: dryRun,
    format_detected: format,
    total,
    parsed,
    created,
    updated,
    unchanged,
    duplicates: duplicate,
    removed,
    skipped: total - parsed,
    failed: rejected.length,
    items: plan.items,
    errors: rejected.map((each) => ({ ...each, message: readerText(each.message) })),
  };
}
