import type { MergedRulesResponse, MergedRuleView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Trouble } from '../../shared/components/page.js';
import { PAGE_SIZES, Pager } from '../../shared/components/pager.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { useResource } from '../../shared/state/use-resource.js';
import { RuleTarget, RuleText } from './rule-text.js';

const COLUMNS: readonly Column<MergedRuleView>[] = [
  { head: 'Place', right: true, cell: ({ index }) => formatCount(index + 1) },
  { head: 'Rule', grow: true, cell: (rule) => <RuleText rule={rule} /> },
  { head: 'Target', cell: (rule) => <RuleTarget rule={rule} /> },
  { head: 'Source', cell: ({ source }) => <Badge tone={source === 'manual' ? 'info' : 'none'}>{source}</Badge> },
  { head: 'Effect', cell: (rule) => <Effect rule={rule} /> },
  { head: 'Hits', right: true, cell: ({ hit_count: hits }) => formatCount(hits) },
];

function Effect({ rule }: { rule: MergedRuleView }) {
  if (rule.effective) return <Badge tone="good">in effect</Badge>;
  if (rule.shadowed_by === null) return <Badge tone="bad">none</Badge>;
  return <Badge tone="fair">shadowed by {rule.shadowed_by + 1}</Badge>;
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
        caption="All rules in force"
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        rowClass={(rule) => (rule.effective ? '' : 'faint struck')}
        empty="There are no rules."
      />
      {data && <Pager label="rules" sizes={PAGE_SIZES} {...data} onChange={setPage} />}
      {data && (
        <p class="muted">
          What none of them takes goes to <strong>{data.default_policy}</strong>.
        </p>
      )}
    </>
  );
}
