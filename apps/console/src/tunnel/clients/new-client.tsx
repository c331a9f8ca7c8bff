import type { NewTunnelClientView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { ClientFields } from './client-fields.js';
import { formOf, toBody, type ClientForm } from './client-form.js';

interface NewClientProps {
  onClose: () => void;
  onCreated: (client: NewTunnelClientView) => void;
}

export function NewClient({ onClose, onCreated }: NewClientProps) {
  const api = useApi();
  const form = useForm<ClientForm>(formOf(null));
  const create = async (values: ClientForm): Promise<void> => {
    onCreated(await api.post<NewTunnelClientView>('/clients', toBody(values)));
  };
  return (
    <Dialog title={t('clients.add')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <ClientFields form={form} autofocus />
        <FormEnd error={form.error} busy={form.busy} action={t('words.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
