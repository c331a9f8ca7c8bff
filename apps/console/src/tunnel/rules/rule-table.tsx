import type { IpRuleView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { Badge } from '../../shared/components/page.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import type { CursorList } from '../../shared/state/use-cursor-list.js';
import { useResourceNames, type NameOf } from '../parts/resource-names.js';
import { useIsAdministrator, useMayWrite } from '../user-context.js';
import { KINDS, needsResource } from './rule-form.js';

export type RuleDeed = 'edit' | 'remove';

interface RuleTableProps {
  list: CursorList<IpRuleView>;
  empty: ComponentChildren;
  onDeed: (deed: RuleDeed, rule: IpRuleView) => void;
}

export function RuleTable({ list, empty, onDeed }: RuleTableProps) {
  const mayWrite = useMayWrite();
  const mayRuleAll = useIsAdministrator();
  const nameOf = useResourceNames(list.rows?.map(({ scope, resource_id: id }) => ({ kind: scope, id })) ?? []);
  const columns: Column<IpRuleView>[] = [
    {
      head: 'Does',
      sort: 'type',
      cell: ({ type }) => <Badge tone={type === 'allow' ? 'good' : 'bad'}>{type === 'allow' ? 'allow' : 'deny'}</Badge>,
    },
    {
      head: 'Addresses',
      sort: 'pattern',
      cell: ({ pattern, pattern_kind: kind }) => (
        <>
          <code>{pattern}</code>
          <span class="second">{KINDS[kind].label.toLowerCase()}</span>
        </>
      ),
    },
    { head: 'About', sort: 'scope', cell: (rule) => aboutOf(rule, nameOf) },
    { head: 'Priority', sort: 'priority', right: true, cell: ({ priority }) => priority },
    { head: 'Remark', grow: true, cell: ({ remark }) => remark ?? <span class="muted">–</span> },
  ];
  if (mayWrite) {
    columns.push({
      head: 'Actions',
      quietHead: true,
      right: true,
      cell: (rule) => (mayRuleAll || needsResource(rule.scope)) && <RuleActions rule={rule} onDeed={onDeed} />,
    });
  }
  return (
    <Table
      caption="IP rules"
      columns={columns}
      rows={list.rows}
      rowKey={({ id }) => id}
      sort={list.sort}
      onSort={list.setSort}
      empty={empty}
    />
  );
}

export function aboutOf({ scope, resource_id: id }: Pick<IpRuleView, 'scope' | 'resource_id'>, nameOf: NameOf): string {
  if (scope === 'global') return 'everything';
  if (scope === 'console') return 'this console';
  return scope === 'user' ? `user ${id}` : `${scope} ${nameOf(scope, id)}`;
}

function RuleActions({ rule, onDeed }: { rule: IpRuleView; onDeed: RuleTableProps['onDeed'] }) {
  return (
    <RowActions>
      <RowAction label={`Edit the rule about ${rule.pattern}`} onClick={() => onDeed('edit', rule)}>
        Edit
      </RowAction>
      <RowAction label={`Delete the rule about ${rule.pattern}`} danger onClick={() => onDeed('remove', rule)}>
        Delete …
      </RowAction>
    </RowActions>
  );
}
