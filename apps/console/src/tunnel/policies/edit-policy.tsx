import type { AuthPolicyView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { EditDialog } from '../../shared/components/edit-dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { SaveEnd } from '../../shared/components/save-end.js';
import { useForm } from '../../shared/state/use-form.js';
import type { Row } from '../../shared/state/use-row.js';
import { t } from '../messages/index.js';
import { PolicyFields } from './policy-fields.js';
import { formOf, toBody, toChanges, type PolicyForm } from './policy-form.js';

interface PolicyDialogProps {
  onClose: () => void;
  onDone: () => void;
}

export function NewPolicy({ onClose, onDone }: PolicyDialogProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<PolicyForm>(formOf(null));
  const create = async (values: PolicyForm): Promise<void> => {
    await api.post<AuthPolicyView>('/auth-policies', toBody(values));
    notify(t('policies.created'));
    onDone();
    onClose();
  };
  return (
    <Dialog title={t('policies.add')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <PolicyFields form={form} policy={null} />
        <FormEnd error={form.error} busy={form.busy} action={t('words.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

export function EditPolicy({
  policy,
  name,
  onClose,
  onDone,
}: PolicyDialogProps & { policy: AuthPolicyView; name: string }) {
  return (
    <EditDialog<AuthPolicyView>
      title={t('policies.editTitle', { name })}
      path={`/auth-policies/${policy.id}`}
      onClose={onClose}
    >
      {(row, version) => <PolicyEditor policy={row} version={version} onClose={onClose} onDone={onDone} />}
    </EditDialog>
  );
}

interface PolicyEditorProps extends PolicyDialogProps {
  policy: AuthPolicyView;
  version: Pick<Row<AuthPolicyView>, 'etag' | 'reload'>;
}

function PolicyEditor({ policy, version, onClose, onDone }: PolicyEditorProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<PolicyForm>(formOf(policy));
  const save = async (values: PolicyForm): Promise<void> => {
    await api.patch<AuthPolicyView>(`/auth-policies/${policy.id}`, toChanges(values, policy), version.etag);
    notify(t('policies.saved'));
    onDone();
    onClose();
  };
  return (
    <form onSubmit={form.submit(save)}>
      <PolicyFields form={form} policy={policy} />
      <SaveEnd form={form} action={t('common.save')} onCancel={onClose} onReload={version.reload} />
    </form>
  );
}
