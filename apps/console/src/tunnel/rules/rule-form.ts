import type { IpRuleView } from '@gatehouse/contracts';
import { numberOr } from '../clients/client-form.js';
import { t } from '../messages/index.js';

export interface RuleForm {
  scope: IpRuleView['scope'];
  resource_id: string;
  type: IpRuleView['type'];
  pattern_kind: IpRuleView['pattern_kind'];
  pattern: string;
  /** One to a line; empty: any. */
  paths: string;
  /** Separated by spaces or commas; empty: any. */
  methods: string;
  priority: string;
  remark: string;
  /** Save it even if it blocks the address of the user who saves it. */
  force: boolean;
}

export const SCOPES: Readonly<Record<IpRuleView['scope'], string>> = {
  global: t('rules.scopes.global'),
  console: t('rules.scopes.console'),
  user: t('rules.scopes.user'),
  client: t('rules.scopes.client'),
  tunnel: t('rules.scopes.tunnel'),
  host: t('rules.scopes.host'),
};

export const KINDS: Readonly<Record<IpRuleView['pattern_kind'], { label: string; hint: string }>> = {
  exact: { label: t('rules.patterns.exact'), hint: t('rules.patternHints.exact') },
  cidr: { label: t('rules.patterns.cidr'), hint: t('rules.patternHints.cidr') },
  wildcard: { label: t('rules.patterns.wildcard'), hint: t('rules.patternHints.wildcard') },
  range: { label: t('rules.patterns.range'), hint: t('rules.patternHints.range') },
  country: { label: t('rules.patterns.country'), hint: t('rules.patternHints.country') },
  asn: { label: t('rules.patterns.asn'), hint: t('rules.patternHints.asn') },
  list: { label: t('rules.patterns.list'), hint: t('rules.patternHints.list') },
  any: { label: t('rules.patterns.any'), hint: t('rules.patternHints.any') },
};

/** Levels whose rules can be about requests: those of hosts. */
export function seesRequests(scope: IpRuleView['scope']): boolean {
  return scope !== 'tunnel' && scope !== 'console';
}

/** Levels that stand for themselves, without a resource. */
export function needsResource(scope: IpRuleView['scope']): boolean {
  return scope !== 'global' && scope !== 'console';
}

export function formOf(rule: IpRuleView | null, mayRuleAll: boolean): RuleForm {
  return {
    scope: rule?.scope ?? (mayRuleAll ? 'global' : 'client'),
    resource_id: rule === null || rule.resource_id === 0 ? '' : String(rule.resource_id),
    type: rule?.type ?? 'deny',
    pattern_kind: rule?.pattern_kind ?? 'cidr',
    pattern: rule?.pattern ?? '',
    paths: (rule?.paths ?? []).join('\n'),
    methods: (rule?.methods ?? []).join(' '),
    priority: String(rule?.priority ?? 0),
    remark: rule?.remark ?? '',
    force: false,
  };
}

/** What a rule says; what it is about can be said once only. */
export function toChanges(form: RuleForm): Record<string, unknown> {
  const { scope, type, pattern, pattern_kind, paths, methods, priority, remark } = form;
  const listOf = (text: string, separator: RegExp): string[] | null => {
    const entries = seesRequests(scope) ? text.split(separator).filter((entry) => entry.trim() !== '') : [];
    return entries.length === 0 ? null : entries.map((entry) => entry.trim());
  };
  return {
    type,
    pattern,
    pattern_kind,
    paths: listOf(paths, /\n/),
    methods: listOf(methods, /[\s,]+/),
    priority: numberOr(priority, 0),
    remark: remark.trim() === '' ? null : remark,
    ...(form.force && { force: true }),
  };
}

export function toBody(form: RuleForm): Record<string, unknown> {
  const { scope, resource_id: id } = form;
  return { scope, ...(needsResource(scope) && { resource_id: numberOr(id, 0) }), ...toChanges(form) };
}

/** The likely kind of what is being typed. */
export function kindOf(pattern: string): IpRuleView['pattern_kind'] | null {
  const text = pattern.trim();
  if (text.includes('/')) return 'cidr';
  if (text === '*') return 'any';
  if (text.includes('*')) return 'wildcard';
  if (/[.:].*-/.test(text)) return 'range';
  if (/^!?AS\d+$/i.test(text)) return 'asn';
  if (/^(!?[a-z]{2}|private)$/i.test(text)) return 'country';
  return /^[0-9a-f.:]{3,}$/i.test(text) ? 'exact' : null;
}
