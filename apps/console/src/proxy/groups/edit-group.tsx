import type { OutboundGroupType, OutboundGroupView } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd, plainChoices, SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useForm } from '../../shared/state/use-form.js';
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
    notify(`${values.name} was saved.`);
    onDone();
    onClose();
  };
  return (
    <Dialog title={group ? `Edit ${group.name}` : 'Add a group'} onClose={onClose} wide>
      <form onSubmit={form.submit(save)}>
        <MainFields form={form} />
        <FilterFields form={form} />
        {form.values.type !== 'select' && <TestFields form={form} />}
        <FormEnd error={form.error} busy={form.busy} action="Save" onCancel={onClose} />
      </form>
    </Dialog>
  );
}

function MainFields({ form }: { form: GroupFormState }) {
  return (
    <>
      <div class="form-row">
        <TextField
          label="Name"
          required
          autofocus
          value={form.values.name}
          problem={form.problem('name')}
          onInput={(name) => form.set('name', name)}
        />
        <SelectField
          label="Type"
          hint="select: you choose; the others choose by health"
          value={form.values.type}
          choices={plainChoices(GROUP_TYPES)}
          onChange={(type) => form.set('type', type as OutboundGroupType)}
        />
        <SelectField
          label="While it is empty"
          value={form.values.empty_fallback}
          choices={plainChoices(['REJECT', 'REJECT-DROP', 'DIRECT'])}
          problem={form.problem('empty_fallback')}
          onChange={(value) => form.set('empty_fallback', value)}
        />
      </div>
      <TextField
        label="Listed members"
        hint="One on a line: a group, DIRECT, REJECT, or a node as n12 or by its name"
        rows={3}
        value={form.values.members}
        problem={form.problem('members')}
        onInput={(members) => form.set('members', members)}
      />
    </>
  );
}
