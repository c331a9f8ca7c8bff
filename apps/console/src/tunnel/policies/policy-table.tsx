import type { AuthPolicyView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatDuration } from '../../shared/format/times.js';
import type { CursorList } from '../../shared/state/use-cursor-list.js';
import { t } from '../messages/index.js';
import type { NameOf } from '../parts/resource-names.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { useMayWrite } from '../user-context.js';
import { POLICY_TYPES } from './policy-form.js';

export type PolicyAction = 'edit' | 'remove';

interface PolicyTableProps {
  list: CursorList<AuthPolicyView>;
  nameOf: NameOf;
  empty: ComponentChildren;
  onAction: (action: PolicyAction, policy: AuthPolicyView) => void;
}

export function PolicyTable({ list, nameOf, empty, onAction }: PolicyTableProps) {
  const guarded = ({ resource_type: kind, resource_id: id }: AuthPolicyView): string => nameOf(kind, id);
  const columns = [...columnsFor(list.reload, guarded), ...(useMayWrite() ? [actionsColumn(guarded, onAction)] : [])];
  return (
    <Table
      caption={t('nav.access')}
      columns={columns}
      rows={list.rows}
      rowKey={({ id }) => id}
      rowClass={({ enabled }) => (enabled === 1 ? '' : 'faint')}
      sort={list.sort}
      onSort={list.setSort}
      empty={empty}
    />
  );
}

type Guarded = (policy: AuthPolicyView) => string;

function columnsFor(reload: () => void, guarded: Guarded): Column<AuthPolicyView>[] {
  return [
    {
      head: t('common.enabled'),
      quietHead: true,
      cell: (policy) => (
        <StatusSwitch
          path={`/auth-policies/${policy.id}`}
          field="enabled"
          label={t('policies.enabledName', { name: guarded(policy) })}
          value={policy.enabled}
          reload={reload}
        />
      ),
    },
    {
      head: t('policies.resource'),
      sort: 'resource_type',
      grow: true,
      cell: (policy) => (
        <>
          <strong>{guarded(policy)}</strong>
          <span class="second">{t(`kinds.${policy.resource_type}`)}</span>
        </>
      ),
    },
    { head: t('policies.authentication'), sort: 'type', cell: (policy) => <How policy={policy} /> },
    {
      head: t('policies.ttl'),
      cell: ({ ttl_seconds: ttl }) => (ttl === 0 ? t('policies.browserSession') : formatDuration(ttl * 1_000)),
    },
  ];
}

function actionsColumn(guarded: Guarded, onAction: PolicyTableProps['onAction']): Column<AuthPolicyView> {
  return {
    head: t('words.actions'),
    quietHead: true,
    right: true,
    cell: (policy) => (
      <RowActions>
        <RowAction label={t('policies.editTitle', { name: guarded(policy) })} onClick={() => onAction('edit', policy)}>
          {t('common.edit')}
        </RowAction>
        <RowAction
          label={t('policies.deleteName', { name: guarded(policy) })}
          danger
          onClick={() => onAction('remove', policy)}
        >
          {t('common.deleteMore')}
        </RowAction>
      </RowActions>
    ),
  };
}

function How({ policy }: { policy: AuthPolicyView }) {
  return (
    <>
      {POLICY_TYPES[policy.type].label}
      <span class="second">{detailOf(policy)}</span>
    </>
  );
}

function detailOf({ type, users, callback_url: url, oauth }: AuthPolicyView): string {
  if (type === 'basic') return users.join(', ');
  if (type === 'callback') return url ?? '';
  return type === 'oauth' ? (oauth?.issuer ?? '') : '';
}
