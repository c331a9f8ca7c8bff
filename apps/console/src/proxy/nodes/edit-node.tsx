import type { NodeView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { splitLines } from '../../shared/format/links.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { nodeChanges, type NodeForm } from './node-changes.js';

interface EditNodeProps {
  node: NodeView;
  onClose: () => void;
  onDone: () => void;
}

export function EditNode({ node, onClose, onDone }: EditNodeProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<NodeForm>({
    name: node.name,
    country: node.country_source === 'manual' ? (node.country ?? '') : '',
    tags: node.tags.join(', '),
    raw_config: node.raw_config,
  });
  const save = async (values: NodeForm): Promise<void> => {
    const { name } = await api.put<NodeView>(`/proxies/${node.id}`, nodeChanges(node, values, splitLines(values.tags)));
    notify(t('words.saved', { name }));
    onDone();
    onClose();
  };
  const field = (name: keyof NodeForm) => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <form onSubmit={form.submit(save)}>
      <div class="form-row">
        <TextField
          label={t('common.name')}
          hint={t('nodes.editNameHint', { name: node.original_name })}
          {...field('name')}
        />
        <TextField label={t('words.country')} hint={t('nodes.countryHint')} {...field('country')} />
        <TextField label={t('words.tags')} hint={t('nodes.tagsHint')} {...field('tags')} />
      </div>
      <TextField label={t('nodes.config')} hint={t('nodes.configHint')} rows={6} {...field('raw_config')} />
      <FormEnd error={form.error} busy={form.busy} action={t('common.save')} onCancel={onClose} />
    </form>
  );
}
