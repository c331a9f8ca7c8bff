import type { NewTunnelView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { TunnelFields } from './tunnel-fields.js';
import { formOf, toBody, type TunnelForm } from './tunnel-form.js';

interface NewTunnelProps {
  /** Empty: to be chosen. */
  clientId: string;
  onClose: () => void;
  onCreated: (tunnel: NewTunnelView) => void;
}

export function NewTunnel({ clientId, onClose, onCreated }: NewTunnelProps) {
  const api = useApi();
  const form = useForm<TunnelForm>(formOf(null, clientId));
  const create = async (values: TunnelForm): Promise<void> => {
    onCreated(await api.post<NewTunnelView>('/tunnels', toBody(values)));
  };
  return (
    <Dialog title={t('tunnels.add')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <TunnelFields form={form} isNew />
        <FormEnd error={form.error} busy={form.busy} action={t('words.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
