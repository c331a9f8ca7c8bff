import type { RuleView } from '@gatehouse/contracts';

/** As the address and the API's parameters call them; empty: any. */
export interface RuleFilter extends Readonly<Record<string, string>> {
  search: string;
  type: string;
  target: string;
  source: string;
}

export const NO_RULE_FILTER: RuleFilter = { search: '', type: '', target: '', source: '' };

export function isFiltered(filter: RuleFilter): boolean {
  return Object.values(filter).some((value) => value.trim() !== '');
}

export function queryOf(filter: RuleFilter): RuleFilter {
  return { ...filter, search: filter.search.trim() };
}

/** Targets to choose from: those that rules can have, and those that the rules in view have, with their names. */
export function targetChoices(
  targets: readonly string[],
  rows: readonly RuleView[],
  chosen: string,
): { value: string; label: string }[] {
  const names = new Map(targets.map((name) => [name, name]));
  for (const { target, target_name: name } of rows) names.set(target, name ?? target);
  if (chosen !== '' && !names.has(chosen)) names.set(chosen, chosen);
  return [...names].map(([value, label]) => ({ value, label }));
}

/** The API's fields that bring a rule to a place among the others. @param others without the rule, in order */
export function placeAmong(
  others: readonly Pick<RuleView, 'id'>[],
  to: number,
): { after_id: number } | { before_id: number } | null {
  const above = others[to - 1];
  const below = others[to];
  if (above !== undefined) return { after_id: above.id };
  return below === undefined ? null : { before_id: below.id };
}
