import type { OutboundGroupView, OutboundOverview } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { segment } from '../../../shared/api/api-client.js';
import { useApi } from '../../../shared/api/api-context.js';
import { Dialog } from '../../../shared/components/dialog.js';
import { FormEnd, SelectField } from '../../../shared/components/fields.js';
import { useNotify } from '../../../shared/components/notices.js';
import { Trouble } from '../../../shared/components/page.js';
import { useForm } from '../../../shared/state/use-form.js';
import { useResource } from '../../../shared/state/use-resource.js';
import { t } from '../../messages/index.js';
import { withMembers } from './with-members.js';

interface AddToGroupProps {
  ids: readonly number[];
  onClose: () => void;
  onDone: () => void;
}

/** Puts nodes into a group by name; what its filter takes besides stays as it is. */
export function AddToGroup({ ids: selected, onClose, onDone }: AddToGroupProps) {
  const api = useApi();
  const notify = useNotify();
  const [ids] = useState(selected);
  const form = useForm({ group: '', members: '' });
  const { data, error } = useResource(
    (signal) => api.get<OutboundOverview>('/outbound', { members: false }, signal),
    [],
  );
  // Groups of countries follow their nodes.
  const names = data?.groups.filter(({ automatic }) => !automatic).map(({ name }) => name) ?? [];
  const chosen = form.values.group || (names[0] ?? '');
  const add = async (): Promise<void> => {
    const path = `/outbound/groups/${segment(chosen)}`;
    const { listed } = await api.get<OutboundGroupView>(path, { members: false });
    const { members, added } = withMembers(listed, ids);
    if (added > 0) await api.patch(path, { members });
    notify(t('bulk.addedToGroup', { group: chosen, added, present: ids.length - added }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={t('bulk.groupTitle', { count: ids.length })} onClose={onClose}>
      <Trouble error={error} />
      <form onSubmit={form.submit(add)}>
        <SelectField
          label={t('bulk.group')}
          hint={t('bulk.groupHint')}
          value={chosen}
          choices={names.map((value) => ({ value, label: value }))}
          problem={form.problem('members')}
          onChange={(group) => form.set('group', group)}
        />
        <FormEnd
          error={form.error}
          busy={form.busy || chosen === ''}
          action={t('bulk.addCount', { count: ids.length })}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
