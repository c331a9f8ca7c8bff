import type { NewTunnelApiKeyView, TunnelApiKeyScope, TunnelUserRole } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { ApiKeyFields, NEW_KEY, toKeyBody, type ApiKeyForm } from '../../shared/api-keys/api-key-fields.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { NO_PROOF, ProofFields, proofOf, type Proof } from '../parts/proof-fields.js';
import { useUser } from '../user-context.js';
import { MAY } from './may.js';

/** A key may do no more than its user. */
const HIGHEST: Record<TunnelUserRole, TunnelApiKeyScope> = { admin: 'admin', user: 'write', viewer: 'read' };

interface NewApiKeyProps {
  onClose: () => void;
  onCreated: (key: NewTunnelApiKeyView) => void;
}

export function NewApiKey({ onClose, onCreated }: NewApiKeyProps) {
  const api = useApi();
  const { role } = useUser();
  const form = useForm<ApiKeyForm & Proof>({ ...NEW_KEY, ...NO_PROOF });
  const create = async (values: ApiKeyForm & Proof): Promise<void> => {
    const body = { ...toKeyBody(values), ...proofOf(values) };
    onCreated(await api.post<NewTunnelApiKeyView>('/api-keys', body));
  };
  return (
    <Dialog title={t('keys.newTitle')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <ApiKeyFields form={form} may={MAY} highest={HIGHEST[role]} />
        <ProofFields form={form} />
        <FormEnd error={form.error} busy={form.busy} action={t('words.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
