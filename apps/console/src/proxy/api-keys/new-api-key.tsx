import type { ApiKeyCreatedResponse } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { ApiKeyFields, NEW_KEY, toKeyBody, type ApiKeyForm } from '../../shared/api-keys/api-key-fields.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { MAY } from './may.js';

interface NewApiKeyProps {
  onClose: () => void;
  onCreated: (key: ApiKeyCreatedResponse) => void;
}

export function NewApiKey({ onClose, onCreated }: NewApiKeyProps) {
  const api = useApi();
  const form = useForm<ApiKeyForm>(NEW_KEY);
  const create = async (values: ApiKeyForm): Promise<void> => {
    onCreated(await api.post<ApiKeyCreatedResponse>('/api-keys', toKeyBody(values)));
  };
  return (
    <Dialog title={t('keys.newTitle')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <ApiKeyFields form={form} may={MAY} />
        <FormEnd error={form.error} busy={form.busy} action={t('keys.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
