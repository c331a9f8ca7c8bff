import type { NodeView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';

export function AddNode({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm({ raw_config: '', name: '' });
  const add = async (values: { raw_config: string; name: string }): Promise<void> => {
    const node = await api.post<NodeView>('/proxies', values);
    notify(t('nodes.added', { name: node.name }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={t('nodes.addTitle')} onClose={onClose}>
      <form onSubmit={form.submit(add)}>
        <TextField
          label={t('nodes.linkOrConfig')}
          hint={t('nodes.linkHint')}
          rows={5}
          required
          autofocus
          value={form.values.raw_config}
          problem={form.problem('raw_config')}
          onInput={(value) => form.set('raw_config', value)}
        />
        <TextField
          label={t('common.name')}
          hint={t('nodes.nameHint')}
          value={form.values.name}
          problem={form.problem('name')}
          onInput={(value) => form.set('name', value)}
        />
        <FormEnd error={form.error} busy={form.busy} action={t('common.add')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
