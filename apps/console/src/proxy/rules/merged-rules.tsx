import type { MergedRulesResponse, MergedRuleView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Trouble } from '../../shared/components/page.js';
import { PAGE_SIZES, Pager } from '../../shared/components/pager.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { useResource } from '../../shared/state/use-resource.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { RuleTarget, RuleText } from './rule-text.js';

const COLUMNS: readonly Column<MergedRuleView>[] = [
  { head: t('rules.place'), right: true, cell: ({ index }) => formatCount(index + 1) },
  { head: t('words.rule'), grow: true, cell: (rule) => <RuleText rule={rule} /> },
  { head: t('words.target'), cell: (rule) => <RuleTarget rule={rule} /> },
  {
    head: t('words.source'),
    cell: ({ source }) => (
      <Badge tone={source === 'manual' ? 'info' : 'none'}>{t(`rules.sourceNames.${source}`)}</Badge>
    ),
  },
  { head: t('rules.effect'), cell: (rule) => <Effect rule={rule} /> },
  { head: t('words.hits'), right: true, cell: ({ hit_count: hits }) => formatCount(hits) },
];

function Effect({ rule }: { rule: MergedRuleView }) {
  if (rule.effective) return <Badge tone="good">{t('rules.inEffect')}</Badge>;
  if (rule.shadowed_by === null) return <Badge tone="bad">{t('rules.noEffect')}</Badge>;
  return <Badge tone="fair">{t('rules.shadowed', { place: rule.shadowed_by + 1 })}</Badge>;
}

/** All rules that the kernel tries, in its order. */
export function MergedRules() {
  const api = useApi();
  const [page, setPage] = useState({ limit: 50, offset: 0 });
  const { data, error, reload } = useResource(
    (signal) => api.get<MergedRulesResponse>('/rules/merged', page, signal),
    [page],
    { everyMs: 15_000 },
  );
  return (
    <>
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('rules.merged')}
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        rowClass={(rule) => (rule.effective ? '' : 'faint struck')}
        empty={t('rules.mergedEmpty')}
      />
      {data && <Pager label={t('nav.rules')} sizes={PAGE_SIZES} {...data} onChange={setPage} />}
      {data && <p class="muted">{rich('rules.defaultPolicy', { policy: data.default_policy, b: bold })}</p>}
    </>
  );
}
