import {
  PUBLICATION_TEMPLATES,
  type PublicationCreated,
  type PublicationTemplate,
  type PublicationView,
} from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { Preview } from './preview.js';
import { formOf, publicationChanges, toBody, type PublicationForm } from './publication-form.js';
import { SourceFields } from './source-fields.js';
import { StepFields } from './step-fields.js';
import { TemplateChoices } from './template-choices.js';

const TEMPLATES = PUBLICATION_TEMPLATES.map((value) => ({ value, label: t(`publications.templates.${value}`) }));

interface EditPublicationProps {
  /** Null: a new one. */
  publication: PublicationView | null;
  onClose: () => void;
  onDone: () => void;
  /** A new one, with its address. */
  onCreated: (created: PublicationCreated) => void;
}

export function EditPublication({ publication: listed, onClose, onDone, onCreated }: EditPublicationProps) {
  const api = useApi();
  const notify = useNotify();
  // As it was when the form was opened: the list goes on being read.
  const [publication] = useState(listed);
  const form = useForm<PublicationForm>(formOf(publication));
  const save = async (values: PublicationForm): Promise<void> => {
    if (publication === null) {
      onCreated(await api.post<PublicationCreated>('/publications', toBody(values)));
      return;
    }
    await api.put(`/publications/${publication.id}`, publicationChanges(publication, values));
    notify(t('words.saved', { name: values.name }));
    onDone();
    onClose();
  };
  const title = publication ? t('publications.editTitle', { name: publication.name }) : t('publications.add');
  return (
    <Dialog title={title} onClose={onClose} wide>
      <form onSubmit={form.submit(save)}>
        <div class="form-row">
          <TextField
            label={t('common.name')}
            required
            autofocus
            value={form.values.name}
            problem={form.problem('name')}
            onInput={(name) => form.set('name', name)}
          />
          <SelectField
            label={t('publications.template')}
            value={form.values.template}
            choices={TEMPLATES}
            onChange={(template) => form.set('template', template as PublicationTemplate)}
          />
        </div>
        <TemplateChoices form={form} />
        <SourceFields form={form} />
        <StepFields form={form} />
        <LimitFields form={form} />
        <Preview form={form} />
        <FormEnd
          error={form.error}
          busy={form.busy}
          action={publication ? t('common.save') : t('common.add')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}

function LimitFields({ form }: { form: Form<PublicationForm> }) {
  const text = (name: 'expires_at' | 'fetches_per_hour' | 'allowed_addresses') => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <div class="form-row">
      <TextField
        label={t('common.expires')}
        hint={t('apiKeys.expiresHint')}
        type="datetime-local"
        {...text('expires_at')}
      />
      <TextField
        label={t('publications.fetchesPerHour')}
        hint={t('publications.fetchesHint')}
        type="number"
        {...text('fetches_per_hour')}
      />
      <TextField
        label={t('publications.allowedAddresses')}
        hint={t('publications.allowedHint')}
        {...text('allowed_addresses')}
      />
    </div>
  );
}
