import type { RuleSource } from '@gatehouse/contracts';
import type { SelectQueryBuilder } from 'typeorm';
import type { Rule } from '../data/rule.entity.js';
import { likePattern } from '../wire/like-pattern.js';

/** Selects the rules that match every field given. */
export interface RuleFilter {
  source?: RuleSource;
  search?: string;
  type?: string;
  target?: string;
}

export function isFiltered({ source, search, type, target }: RuleFilter): boolean {
  return [source, search, type, target].some((value) => value !== undefined);
}

/** A rule's line, its note, and the name of the node that its target is. */
const SEARCHED = `(rule.type || ',' || rule.payload || ',' || rule.target ILIKE :pattern OR rule.note ILIKE :pattern
  OR rule.target IN (SELECT 'n' || id FROM nodes WHERE coalesce(custom_name, original_name) ILIKE :pattern))`;

/** Adds the filter to a query whose rules are called `rule`. */
export function filterRules(
  query: SelectQueryBuilder<Rule>,
  { source, search, type, target }: RuleFilter,
): SelectQueryBuilder<Rule> {
  if (source !== undefined) query.andWhere('rule.source = :source', { source });
  if (type !== undefined) query.andWhere('rule.type = :type', { type });
  if (target !== undefined) query.andWhere('rule.target = :target', { target });
  if (search !== undefined) query.andWhere(SEARCHED, { pattern: likePattern(search) });
  return query;
}
