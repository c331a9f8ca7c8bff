import type { AuthPolicyView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatDuration } from '../../shared/format/times.js';
import type { CursorList } from '../../shared/state/use-cursor-list.js';
import type { NameOf } from '../parts/resource-names.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { useMayWrite } from '../user-context.js';
import { POLICY_TYPES } from './policy-form.js';

export type PolicyDeed = 'edit' | 'remove';

interface PolicyTableProps {
  list: CursorList<AuthPolicyView>;
  nameOf: NameOf;
  empty: ComponentChildren;
  onDeed: (deed: PolicyDeed, policy: AuthPolicyView) => void;
}

export function PolicyTable({ list, nameOf, empty, onDeed }: PolicyTableProps) {
  const guarded = ({ resource_type: kind, resource_id: id }: AuthPolicyView): string => nameOf(kind, id);
  const columns = [...columnsFor(list.reload, guarded), ...(useMayWrite() ? [actionsColumn(guarded, onDeed)] : [])];
  return (
    <Table
      caption="Policies"
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
      head: 'Enabled',
      quietHead: true,
      cell: (policy) => (
        <StatusSwitch
          path={`/auth-policies/${policy.id}`}
          field="enabled"
          label={`Policy of ${guarded(policy)} enabled`}
          value={policy.enabled}
          reload={reload}
        />
      ),
    },
    {
      head: 'Guards',
      sort: 'resource_type',
      cell: (policy) => (
        <>
          <strong>{guarded(policy)}</strong>
          <span class="second">{policy.resource_type}</span>
        </>
      ),
    },
    { head: 'By', sort: 'type', grow: true, cell: (policy) => <How policy={policy} /> },
    {
      head: 'Holds for',
      cell: ({ ttl_seconds: ttl }) => (ttl === 0 ? 'the session' : formatDuration(ttl * 1_000)),
    },
  ];
}

function actionsColumn(guarded: Guarded, onDeed: PolicyTableProps['onDeed']): Column<AuthPolicyView> {
  return {
    head: 'Actions',
    quietHead: true,
    right: true,
    cell: (policy) => (
      <RowActions>
        <RowAction label={`Edit the policy of ${guarded(policy)}`} onClick={() => onDeed('edit', policy)}>
          Edit
        </RowAction>
        <RowAction label={`Delete the policy of ${guarded(policy)}`} danger onClick={() => onDeed('remove', policy)}>
          Delete …
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
