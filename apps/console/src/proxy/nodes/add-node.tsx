import type { NodeView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useForm } from '../../shared/state/use-form.js';

export function AddNode({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm({ raw_config: '', name: '' });
  const add = async (values: { raw_config: string; name: string }): Promise<void> => {
    const node = await api.post<NodeView>('/proxies', values);
    notify(`${node.name} was added.`);
    onDone();
    onClose();
  };
  return (
    <Dialog title="Add a node" onClose={onClose}>
      <form onSubmit={form.submit(add)}>
        <TextField
          label="Link or configuration"
          hint="ss://, vmess://, vless://, trojan:// …, host:port:user:password, or one Clash entry as YAML or JSON"
          rows={5}
          required
          autofocus
          value={form.values.raw_config}
          problem={form.problem('raw_config')}
          onInput={(value) => form.set('raw_config', value)}
        />
        <TextField
          label="Name"
          hint="Empty: the name in the link"
          value={form.values.name}
          problem={form.problem('name')}
          onInput={(value) => form.set('name', value)}
        />
        <FormEnd error={form.error} busy={form.busy} action="Add" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
