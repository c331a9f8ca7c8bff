import type { DomainView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Secret } from '../../shared/components/secret.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';

interface ProveDomainProps {
  domain: DomainView;
  onClose: () => void;
  onDone: () => void;
}

/** The record that the DNS has to have, and the look whether it does. */
export function ProveDomain({ domain, onClose, onDone }: ProveDomainProps) {
  const { id, name, record } = domain;
  const api = useApi();
  const notify = useNotify();
  const form = useForm({});
  const verify = async (): Promise<void> => {
    await api.post<DomainView>(`/domains/${id}/verify`);
    notify(t('domains.verifiedName', { name }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={t('domains.verifyName', { name })} onClose={onClose}>
      <form onSubmit={form.submit(verify)}>
        <p>{t('domains.verifyText', { name })}</p>
        <p>{t('common.name')}</p>
        <Secret text={record?.name ?? ''} what={t('common.name')} />
        <p>{t('words.value')}</p>
        <Secret text={record?.value ?? ''} what={t('words.value')} />
        <FormEnd error={form.error} busy={form.busy} action={t('domains.verify')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
