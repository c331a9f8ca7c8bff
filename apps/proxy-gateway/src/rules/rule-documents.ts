import { Readable } from 'node:stream';
import type { RuleSource } from '@gatehouse/contracts';
import { Injectable, StreamableFile } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { RuleList } from '../kernel-config/rule-list.js';
import { RuleViews } from './rule-views.js';
import { Rule } from '../data/rule.entity.js';

/** Rows converted at a time. */
const SLICE = 1_000;

/**
 * The list of all rules as JSON text. One list is written at a time, in slices, and callers that wait for the same list
 * share it: as text, tens of thousands of rules take a fifth of the memory that they take as objects.
 */
@Injectable()
export class RuleDocuments {
  private readonly waiting = new Map<string, Promise<Buffer[]>>();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly list: RuleList,
    private readonly views: RuleViews,
  ) {}

  /** By priority; with a source, in the order of evaluation. */
  async of(source: RuleSource | undefined, offset: number): Promise<StreamableFile> {
    const parts = await this.shared(source, offset);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    return new StreamableFile(Readable.from(parts), { type: 'application/json; charset=utf-8', length });
  }

  private shared(source: RuleSource | undefined, offset: number): Promise<Buffer[]> {
    const key = `${source ?? ''} ${offset}`;
    const same = this.waiting.get(key);
    if (same !== undefined) return same;
    const run = this.turn.then(() => {
      this.waiting.delete(key);
      return this.dataSource.transaction('REPEATABLE READ', (tx) => this.write(tx, source, offset));
    });
    // A failure must not block the next list.
    this.turn = run.catch(() => undefined);
    this.waiting.set(key, run);
    return run;
  }

  private async write(tx: EntityManager, source: RuleSource | undefined, offset: number): Promise<Buffer[]> {
    const merged = await this.list.load(tx);
    const total = await tx.count(Rule, { where: source === undefined ? {} : { source } });
    const parts = [Buffer.from('{"items":[')];
    let last: Rule | undefined;
    for (;;) {
      const rows = await readSlice(tx, source, last ?? offset);
      const items = await this.views.of(tx, rows, merged);
      if (rows.length > 0) {
        const text = items.map((item) => JSON.stringify(item)).join();
        parts.push(Buffer.from(last === undefined ? text : `,${text}`));
      }
      if (rows.length < SLICE) break;
      last = rows.at(-1);
    }
    parts.push(Buffer.from(`],"total":${total}}`));
    return parts;
  }
}

/** @param from the number of rules to skip, or the rule before the first. */
function readSlice(tx: EntityManager, source: RuleSource | undefined, from: Rule | number): Promise<Rule[]> {
  const query = tx.createQueryBuilder(Rule, 'rule').orderBy('rule.priority').addOrderBy('rule.id').limit(SLICE);
  if (source !== undefined) query.andWhere('rule.source = :source', { source });
  if (typeof from === 'number') query.offset(from);
  else query.andWhere('(rule.priority, rule.id) > (:priority, :id)', { priority: from.priority, id: from.id });
  return query.getMany();
}
