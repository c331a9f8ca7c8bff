import type { IpRuleView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { hasFlag } from '../../shared/components/flag-codes.js';
import { Flag } from '../../shared/components/flag.js';
import { Badge } from '../../shared/components/page.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { countryName } from '../../shared/format/countries.js';
import { language } from '../../shared/messages/index.js';
import type { CursorList } from '../../shared/state/use-cursor-list.js';
import { t } from '../messages/index.js';
import { useNamedRows, type NameOf } from '../parts/resource-names.js';
import { useIsAdministrator, useMayWrite } from '../user-context.js';
import { KINDS, needsResource } from './rule-form.js';

export type RuleAction = 'edit' | 'remove';

interface RuleTableProps {
  list: CursorList<IpRuleView>;
  empty: ComponentChildren;
  onAction: (action: RuleAction, rule: IpRuleView) => void;
}

export function RuleTable({ list, empty, onAction }: RuleTableProps) {
  const mayWrite = useMayWrite();
  const mayRuleAll = useIsAdministrator();
  const { rows, nameOf } = useNamedRows(list.rows, ({ scope, resource_id: id }) => ({ kind: scope, id }));
  const columns: Column<IpRuleView>[] = [
    {
      head: t('rules.action'),
      sort: 'type',
      cell: ({ type }) => (
        <Badge tone={type === 'allow' ? 'good' : 'bad'}>{type === 'allow' ? t('rules.allow') : t('rules.deny')}</Badge>
      ),
    },
    {
      head: t('rules.pattern'),
      sort: 'pattern',
      cell: (rule) => <Pattern rule={rule} />,
    },
    { head: t('rules.scope'), sort: 'scope', cell: (rule) => aboutOf(rule, nameOf) },
    { head: t('rules.priority'), sort: 'priority', right: true, cell: ({ priority }) => priority },
    { head: t('rules.remark'), grow: true, cell: ({ remark }) => remark },
  ];
  if (mayWrite) {
    columns.push({
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (rule) => (mayRuleAll || needsResource(rule.scope)) && <RuleActions rule={rule} onAction={onAction} />,
    });
  }
  return (
    <Table
      caption={t('nav.ipRules')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      sort={list.sort}
      onSort={list.setSort}
      empty={empty}
    />
  );
}

function Pattern({ rule: { pattern, pattern_kind: kind, paths, methods } }: { rule: IpRuleView }) {
  const requests = [...(methods ?? []), ...(paths ?? [])];
  const country = kind === 'country' ? pattern.replace('!', '') : '';
  const name = countryName(country, language());
  return (
    <>
      {hasFlag(country) && <Flag code={country} />} <code>{pattern}</code>
      <span class="second">
        {KINDS[kind].label}
        {name !== country && ` · ${name}`}
      </span>
      {requests.length > 0 && (
        <span class="second">
          <code>{requests.join(' ')}</code>
        </span>
      )}
    </>
  );
}

export function aboutOf({ scope, resource_id: id }: Pick<IpRuleView, 'scope' | 'resource_id'>, nameOf: NameOf): string {
  if (scope === 'global' || scope === 'console') return t(`kinds.${scope}`);
  return t('rules.scopeOf', { kind: t(`kinds.${scope}`), name: nameOf(scope, id) });
}

function RuleActions({ rule, onAction }: { rule: IpRuleView; onAction: RuleTableProps['onAction'] }) {
  return (
    <RowActions>
      <RowAction label={t('rules.editTitle', { pattern: rule.pattern })} onClick={() => onAction('edit', rule)}>
        {t('common.edit')}
      </RowAction>
      <RowAction
        label={t('rules.deleteName', { pattern: rule.pattern })}
        danger
        onClick={() => onAction('remove', rule)}
      >
        {t('common.deleteMore')}
      </RowAction>
    </RowActions>
  );
}
