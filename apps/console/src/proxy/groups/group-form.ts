import type { GroupFilter, GroupStrategy, OutboundGroupType, OutboundGroupView } from '@gatehouse/contracts';
import { splitLines, splitWords } from '../../shared/format/links.js';

export const GROUP_TYPES: readonly OutboundGroupType[] = ['select', 'url-test', 'fallback', 'load-balance'];

/** A group as a form: lists are texts, numbers too. The names are those of the API, so that refusals find their fields. */
export interface GroupForm {
  name: string;
  type: OutboundGroupType;
  members: string;
  takes: 'none' | 'all' | 'some';
  filter: string;
  countries: string;
  types: string;
  tags: string;
  subscription_ids: string;
  exclude: string;
  include_countries: boolean;
  test_url: string;
  expected_status: string;
  interval_sec: string;
  tolerance_ms: string;
  lazy: boolean;
  strategy: '' | GroupStrategy;
  empty_fallback: string;
  hidden: boolean;
}

export function formOf(group: OutboundGroupView | null): GroupForm {
  const filter = group?.filter ?? null;
  return {
    name: group?.name ?? '',
    type: group?.type ?? 'select',
    members: group?.listed.join('\n') ?? '',
    takes: filter === null ? 'none' : Object.keys(filter).length === 0 ? 'all' : 'some',
    filter: filter?.name ?? '',
    countries: filter?.countries?.join(', ') ?? '',
    types: filter?.types?.join(', ') ?? '',
    tags: filter?.tags?.join(', ') ?? '',
    subscription_ids: filter?.subscription_ids?.join(', ') ?? '',
    exclude: group?.exclude?.name ?? '',
    include_countries: group?.include_countries ?? false,
    test_url: group?.test_url ?? '',
    expected_status: group?.expected_status ?? '',
    interval_sec: numberText(group?.interval_sec),
    tolerance_ms: numberText(group?.tolerance_ms),
    lazy: group?.lazy ?? true,
    strategy: group?.strategy ?? '',
    empty_fallback: group?.empty_fallback ?? 'REJECT',
    hidden: group?.hidden ?? false,
  };
}

/** A group's body. What is no number goes as it is: the service says what is wrong with it. */
export function toBody(form: GroupForm): Record<string, unknown> {
  return {
    name: form.name,
    type: form.type,
    members: splitLines(form.members),
    filter: filterOf(form),
    exclude: form.exclude.trim() === '' ? null : { name: form.exclude },
    include_countries: form.include_countries,
    test_url: form.test_url.trim() || null,
    expected_status: form.expected_status.trim() || null,
    interval_sec: toNumber(form.interval_sec),
    tolerance_ms: toNumber(form.tolerance_ms),
    lazy: form.lazy,
    strategy: form.strategy || null,
    empty_fallback: form.empty_fallback,
    hidden: form.hidden,
  };
}

/** What of a form differs from the group. What is in force by default is shown too, and must not become the group's own. */
export function groupChanges(group: OutboundGroupView, form: GroupForm): Record<string, unknown> {
  const before = toBody(formOf(group));
  const entries = Object.entries(toBody(form));
  return Object.fromEntries(entries.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])));
}

function filterOf(form: GroupForm): GroupFilter | null {
  if (form.takes === 'none') return null;
  if (form.takes === 'all') return {};
  const countries = splitWords(form.countries).map((code) => code.toUpperCase());
  const types = splitWords(form.types);
  const tags = splitLines(form.tags);
  const subscriptions = splitWords(form.subscription_ids).map(Number);
  return {
    ...(form.filter === '' ? {} : { name: form.filter }),
    ...(countries.length === 0 ? {} : { countries }),
    ...(types.length === 0 ? {} : { types }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(subscriptions.length === 0 ? {} : { subscription_ids: subscriptions }),
  };
}

function numberText(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}

function toNumber(text: string): number | string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}
