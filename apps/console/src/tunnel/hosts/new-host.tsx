import type { HostView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { nameOf } from './host-address.js';
import { HostFields } from './host-fields.js';
import { formOf, toBody, type HostForm } from './host-form.js';

interface NewHostProps {
  /** Empty: to be chosen. */
  clientId: string;
  onClose: () => void;
  onDone: () => void;
}

export function NewHost({ clientId, onClose, onDone }: NewHostProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<HostForm>(formOf(null, clientId));
  const create = async (values: HostForm): Promise<void> => {
    const host = await api.post<HostView>('/hosts', toBody(values));
    notify(t('words.created', { name: nameOf(host) }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={t('hosts.add')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <HostFields form={form} isNew />
        <FormEnd error={form.error} busy={form.busy} action={t('words.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
