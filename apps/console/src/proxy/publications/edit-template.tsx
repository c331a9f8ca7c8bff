import {
  TEMPLATE_TARGETS,
  type PublicationTemplateDetail,
  type PublicationTemplateView,
  type PublicationView,
  type TemplateTarget,
} from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { EditDialog } from '../../shared/components/edit-dialog.js';
import { FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { SaveEnd } from '../../shared/components/save-end.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { TARGET_NAMES } from './address.js';
import type { TemplateForm } from './template-form.js';
import { TemplatePreview } from './template-preview.js';

const TARGETS = TEMPLATE_TARGETS.map((value) => ({ value, label: TARGET_NAMES[value] }));

/** Members of groups that stand for nodes. */
const PLACEHOLDERS = { all: '{all}', some: '{all:HK|JP}' };

interface TemplateDialogProps {
  /** Whose nodes a preview may show. */
  publications: readonly PublicationView[];
  onClose: () => void;
  onDone: () => void;
}

export function NewTemplate({ publications, onClose, onDone }: TemplateDialogProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<TemplateForm>({ name: '', target: 'clash', text: '' });
  const save = async (values: TemplateForm): Promise<void> => {
    await api.post('/publication-templates', values);
    notify(t('words.saved', { name: values.name }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={t('templates.add')} onClose={onClose} wide>
      <form onSubmit={form.submit(save)}>
        <div class="form-row">
          <NameField form={form} />
          <SelectField
            label={t('publications.format')}
            value={form.values.target}
            choices={TARGETS}
            onChange={(target) => form.set('target', target as TemplateTarget)}
          />
        </div>
        <Document form={form} publications={publications} />
        <FormEnd error={form.error} busy={form.busy} action={t('common.add')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

export function EditTemplate({
  template: { id, name },
  ...props
}: TemplateDialogProps & { template: PublicationTemplateView }) {
  return (
    <EditDialog<PublicationTemplateDetail>
      title={t('templates.editTitle', { name })}
      path={`/publication-templates/${id}`}
      wide
      onClose={props.onClose}
    >
      {(row, version) => <Editor row={row} {...version} {...props} />}
    </EditDialog>
  );
}

interface EditorProps extends TemplateDialogProps {
  row: PublicationTemplateDetail;
  etag: string | null;
  reload: () => void;
}

function Editor({ row, etag, reload, publications, onClose, onDone }: EditorProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<TemplateForm>({ name: row.name, target: row.target, text: row.text ?? '' });
  const save = async ({ name, text }: TemplateForm): Promise<void> => {
    await api.put(`/publication-templates/${row.id}`, { name, ...(text !== row.text && { text }) }, {}, etag);
    notify(t('words.saved', { name }));
    onDone();
    onClose();
  };
  return (
    <form onSubmit={form.submit(save)}>
      <NameField form={form} />
      <Document form={form} publications={publications} />
      <SaveEnd form={form} action={t('common.save')} onCancel={onClose} onReload={reload} />
    </form>
  );
}

function NameField({ form }: { form: Form<TemplateForm> }) {
  return (
    <TextField
      label={t('common.name')}
      required
      autofocus
      value={form.values.name}
      problem={form.problem('name')}
      onInput={(name) => form.set('name', name)}
    />
  );
}

function Document({ form, publications }: { form: Form<TemplateForm>; publications: readonly PublicationView[] }) {
  const { target, text } = form.values;
  return (
    <>
      <TextField
        label={t('templates.text')}
        hint={t(`templates.hints.${target}`, PLACEHOLDERS)}
        rows={14}
        required
        value={text}
        problem={form.problem('text')}
        onInput={(value) => form.set('text', value)}
      />
      <TemplatePreview form={form} publications={publications} />
    </>
  );
}
