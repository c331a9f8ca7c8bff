import type { AuthPolicyView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { Empty } from '../parts/empty.js';
import { useNamedRows } from '../parts/resource-names.js';
import { useMayWrite } from '../user-context.js';
import { EditPolicy, NewPolicy } from './edit-policy.js';
import { PolicyTable, type PolicyAction } from './policy-table.js';

type Opened = { action: 'new' } | { action: PolicyAction; policy: AuthPolicyView };

const RESOURCES = [
  { value: '', label: t('policies.anyResource') },
  { value: 'host', label: t('policies.resources.host') },
  { value: 'tunnel', label: t('policies.resources.tunnel') },
  { value: 'client', label: t('policies.resources.client') },
];

const NO_FILTER = { resource_type: '' };

/** How visitors prove who they are. */
export function PoliciesPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const [{ resource_type: kind }, change] = useAddressFilter(query, NO_FILTER);
  const [opened, setOpened] = useState<Opened | null>(null);
  const list = useCursorList<AuthPolicyView>('/auth-policies', { resource_type: kind });
  const { rows, nameOf } = useNamedRows(list.rows, (row) => ({ kind: row.resource_type, id: row.resource_id }));
  const onClose = (): void => setOpened(null);
  const add = (
    <button type="button" class="primary" onClick={() => setOpened({ action: 'new' })}>
      {t('policies.add')}
    </button>
  );
  const guarded =
    opened && opened.action !== 'new' ? nameOf(opened.policy.resource_type, opened.policy.resource_id) : '';
  return (
    <Page title={t('nav.access')} actions={mayWrite && add}>
      <div class="filters" role="search" aria-label={t('policies.filter')}>
        <SelectField
          label={t('policies.resource')}
          hideLabel
          value={kind}
          choices={RESOURCES}
          onChange={(resource_type) => change({ resource_type })}
        />
      </div>
      <Trouble error={list.error} retry={list.reload} />
      <PolicyTable
        list={{ ...list, rows }}
        nameOf={nameOf}
        empty={kind === '' ? <Empty action={mayWrite && add}>{NOTHING}</Empty> : t('words.noMatch')}
        onAction={(action, policy) => setOpened({ action, policy })}
      />
      <CursorPager label={t('nav.access')} order="any" note="" {...list.pager} />
      {opened?.action === 'new' && <NewPolicy onClose={onClose} onDone={list.reload} />}
      {opened?.action === 'edit' && (
        <EditPolicy policy={opened.policy} name={guarded} onClose={onClose} onDone={list.reload} />
      )}
      {opened?.action === 'remove' && (
        <RemovePolicy policy={opened.policy} name={guarded} onClose={onClose} onDone={list.reload} />
      )}
    </Page>
  );
}

const NOTHING = <p>{rich('policies.empty', { b: bold })}</p>;

interface RemovePolicyProps {
  policy: AuthPolicyView;
  /** What it guards. */
  name: string;
  onClose: () => void;
  onDone: () => void;
}

function RemovePolicy({ policy, name, onClose, onDone }: RemovePolicyProps) {
  return (
    <RemoveDialog
      title={t('policies.deleteTitle')}
      path={`/auth-policies/${policy.id}`}
      name={t('policies.policyOf', { name })}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{rich('policies.deleteText', { name, b: bold })}</p>
    </RemoveDialog>
  );
}
