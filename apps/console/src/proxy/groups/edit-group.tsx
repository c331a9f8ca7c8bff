import type { OutboundGroupType, OutboundGroupView } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd, plainChoices, SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { FilterFields, TestFields, type GroupFormState } from './group-fields.js';
import { formOf, GROUP_TYPES, groupChanges, toBody, type GroupForm } from './group-form.js';

interface EditGroupProps {
  /** Null: a new one. */
  group: OutboundGroupView | null;
  onClose: () => void;
  onDone: () => void;
}

export function EditGroup({ group, onClose, onDone }: EditGroupProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<GroupForm>(formOf(group));
  const save = async (values: GroupForm): Promise<void> => {
    if (group) await api.patch(`/outbound/groups/${segment(group.name)}`, groupChanges(group, values));
    else await api.post('/outbound/groups', toBody(values));
    notify(t('words.saved', { name: values.name }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={group ? t('groups.editTitle', { name: group.name }) : t('groups.addTitle')} onClose={onClose} wide>
      <form onSubmit={form.submit(save)}>
        <MainFields form={form} />
        <FilterFields form={form} />
        {form.values.type !== 'select' && <TestFields form={form} />}
        <FormEnd error={form.error} busy={form.busy} action={t('common.save')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

function MainFields({ form }: { form: GroupFormState }) {
  return (
    <>
      <div class="form-row">
        <TextField
          label={t('common.name')}
          required
          autofocus
          value={form.values.name}
          problem={form.problem('name')}
          onInput={(name) => form.set('name', name)}
        />
        <SelectField
          label={t('groups.type')}
          hint={t('groups.typeHint')}
          value={form.values.type}
          choices={plainChoices(GROUP_TYPES)}
          onChange={(type) => form.set('type', type as OutboundGroupType)}
        />
        <SelectField
          label={t('groups.emptyFallback')}
          value={form.values.empty_fallback}
          choices={plainChoices(['REJECT', 'REJECT-DROP', 'DIRECT'])}
          problem={form.problem('empty_fallback')}
          onChange={(value) => form.set('empty_fallback', value)}
        />
      </div>
      <TextField
        label={t('groups.members')}
        hint={t('groups.membersHint')}
        rows={3}
        value={form.values.members}
        problem={form.problem('members')}
        onInput={(members) => form.set('members', members)}
      />
    </>
  );
}
