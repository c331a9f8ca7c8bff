import type { AuthPolicyView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { Empty } from '../parts/empty.js';
import { useResourceNames } from '../parts/resource-names.js';
import { useMayWrite } from '../user-context.js';
import { EditPolicy, NewPolicy } from './edit-policy.js';
import { PolicyTable, type PolicyDeed } from './policy-table.js';

type Opened = { deed: 'new' } | { deed: PolicyDeed; policy: AuthPolicyView };

const RESOURCES = [
  { value: '', label: 'Of anything' },
  { value: 'host', label: 'Of hosts' },
  { value: 'tunnel', label: 'Of tunnels' },
  { value: 'client', label: 'Of clients' },
];

/** How visitors prove who they are. */
export function PoliciesPage() {
  const mayWrite = useMayWrite();
  const [kind, setKind] = useState('');
  const [opened, setOpened] = useState<Opened | null>(null);
  const list = useCursorList<AuthPolicyView>('/auth-policies', { resource_type: kind });
  const nameOf = useResourceNames(list.rows?.map((row) => ({ kind: row.resource_type, id: row.resource_id })) ?? []);
  const onClose = (): void => setOpened(null);
  const add = (
    <button type="button" class="primary" onClick={() => setOpened({ deed: 'new' })}>
      New policy
    </button>
  );
  const guarded = opened && opened.deed !== 'new' ? nameOf(opened.policy.resource_type, opened.policy.resource_id) : '';
  return (
    <Page title="Access" actions={mayWrite && add}>
      <div class="filters" role="search" aria-label="Filter policies">
        <SelectField label="What they guard" hideLabel value={kind} choices={RESOURCES} onChange={setKind} />
      </div>
      <Trouble error={list.error} retry={list.reload} />
      <PolicyTable
        list={list}
        nameOf={nameOf}
        empty={<Empty action={mayWrite && add}>{NOTHING}</Empty>}
        onDeed={(deed, policy) => setOpened({ deed, policy })}
      />
      <CursorPager label="policies" order="any" note="" {...list.pager} />
      {opened?.deed === 'new' && <NewPolicy onClose={onClose} onDone={list.reload} />}
      {opened?.deed === 'edit' && (
        <EditPolicy policy={opened.policy} name={guarded} onClose={onClose} onDone={list.reload} />
      )}
      {opened?.deed === 'remove' && (
        <RemoveDialog
          title="Delete this policy?"
          path={`/auth-policies/${opened.policy.id}`}
          name={`The policy of ${guarded}`}
          onClose={onClose}
          onDone={list.reload}
        >
          <p>
            Without another policy everybody comes in to <strong>{guarded}</strong> from now on.
          </p>
        </RemoveDialog>
      )}
    </Page>
  );
}

const NOTHING = (
  <p>
    <strong>No policy:</strong> whoever knows an address comes in. A policy makes visitors prove who they are: by a
    password, names and passwords, a service of yours, or a sign-in elsewhere.
  </p>
);
