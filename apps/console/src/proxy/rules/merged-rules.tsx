import type { MergedRulesResponse, MergedRuleView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Trouble } from '../../shared/components/page.js';
import { VirtualTable, type VirtualColumn } from '../../shared/components/virtual-table.js';
import { formatCount } from '../../shared/format/amounts.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { LONG_LIST_PAGE, useLongList } from '../../shared/state/use-long-list.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { isFiltered, NO_RULE_FILTER, queryOf, type RuleFilter } from './rule-filter.js';
import { RuleFilters } from './rule-filters.js';
import { RuleTarget, RuleText } from './rule-text.js';

const COLUMNS: readonly VirtualColumn<MergedRuleView>[] = [
  { id: 'place', head: t('rules.place'), width: 70, right: true, cell: ({ index }) => formatCount(index + 1) },
  { id: 'rule', head: t('words.rule'), width: 240, grow: 3, cell: (rule) => <RuleText rule={rule} /> },
  { id: 'target', head: t('words.target'), width: 120, grow: 1, cell: (rule) => <RuleTarget rule={rule} /> },
  {
    id: 'source',
    head: t('words.source'),
    width: 120,
    cell: ({ source }) => (
      <Badge tone={source === 'manual' ? 'info' : 'none'}>{t(`rules.sourceNames.${source}`)}</Badge>
    ),
  },
  { id: 'effect', head: t('rules.effect'), width: 130, cell: (rule) => <Effect rule={rule} /> },
  { id: 'hits', head: t('words.hits'), width: 90, right: true, cell: ({ hit_count: hits }) => formatCount(hits) },
];

function Effect({ rule }: { rule: MergedRuleView }) {
  if (rule.effective) return <Badge tone="good">{t('rules.inEffect')}</Badge>;
  if (rule.shadowed_by === null) return <Badge tone="bad">{t('rules.noEffect')}</Badge>;
  return <Badge tone="fair">{t('rules.shadowed', { place: rule.shadowed_by + 1 })}</Badge>;
}

/** All rules that the kernel tries, in its order. */
export function MergedRules({ query }: PageProps) {
  const api = useApi();
  const [filter, setFilter] = useAddressFilter(query, NO_RULE_FILTER);
  const settled = useDebounced(JSON.stringify(queryOf(filter)));
  const [policy, setPolicy] = useState<string | null>(null);
  const { rows, total, error, reload, more } = useLongList(
    async (offset, signal) => {
      const asked = { ...(JSON.parse(settled) as RuleFilter), limit: LONG_LIST_PAGE, offset };
      const page = await api.get<MergedRulesResponse>('/rules/merged', asked, signal);
      setPolicy(page.default_policy);
      return page;
    },
    [settled],
    { everyMs: 15_000, areas: ['rules'] },
  );
  return (
    <>
      <Trouble error={error} retry={reload} />
      <RuleFilters rows={rows ?? []} filter={filter} onChange={setFilter} withSource />
      <VirtualTable
        caption={t('rules.merged')}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        rowClass={(rule) => (rule.effective ? '' : 'faint struck')}
        empty={isFiltered(filter) ? t('rules.noMatch') : t('rules.mergedEmpty')}
        card={(rule) => <RuleCard rule={rule} />}
        cardHeight={84}
        onEnd={more}
      />
      {rows && <p class="muted">{t('rules.count', { count: total })}</p>}
      {policy !== null && <p class="muted">{rich('rules.defaultPolicy', { policy, b: bold })}</p>}
    </>
  );
}

function RuleCard({ rule }: { rule: MergedRuleView }) {
  return (
    <>
      <div class="line">
        <span>
          <span class="muted">{formatCount(rule.index + 1)}</span> <RuleText rule={rule} />
        </span>
        <Effect rule={rule} />
      </div>
      <span class="second">
        {'→ '}
        <RuleTarget rule={rule} />
        {` · ${t(`rules.sourceNames.${rule.source}`)} · ${t('words.hits')} ${formatCount(rule.hit_count)}`}
      </span>
    </>
  );
}
