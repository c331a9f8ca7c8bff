import type { DomainView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Secret } from '../../shared/components/secret.js';
import { useForm } from '../../shared/state/use-form.js';

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
    notify(`${name} is yours.`);
    onDone();
    onClose();
  };
  return (
    <Dialog title={`Prove ${name}`} onClose={onClose}>
      <form onSubmit={form.submit(verify)}>
        <p>Add a TXT record to the DNS of {name}. It may take a few minutes until it can be seen.</p>
        <p>Name</p>
        <Secret text={record?.name ?? ''} what="Name" />
        <p>Value</p>
        <Secret text={record?.value ?? ''} what="Value" />
        <FormEnd error={form.error} busy={form.busy} action="Look for it" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
