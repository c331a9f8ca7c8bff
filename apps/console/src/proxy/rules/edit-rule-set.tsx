import {
  RULE_SET_BEHAVIORS,
  RULE_SET_FORMATS,
  RULE_SET_TYPES,
  type RuleSetDetail,
  type RuleSetView,
} from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField, FormEnd, plainChoices, SelectField, TextField } from '../../shared/components/fields.js';
import { Trouble } from '../../shared/components/page.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { formOf, toBody, type RuleSetForm } from './rule-set-form.js';

interface EditRuleSetProps {
  /** Null: a new one. */
  set: RuleSetView | null;
  onClose: () => void;
  onDone: () => void;
}

export function EditRuleSet({ set, onClose, onDone }: EditRuleSetProps) {
  const api = useApi();
  const { data, error } = useResource<RuleSetDetail | null>(
    async (signal) => (set ? api.get<RuleSetDetail>(`/rule-sets/${set.id}`, {}, signal) : null),
    [set?.id],
  );
  return (
    <Dialog title={set ? t('ruleSets.editTitle', { name: set.name }) : t('ruleSets.addTitle')} onClose={onClose}>
      <Trouble error={error} waits={data === undefined} />
      {data !== undefined && <RuleSetEditor detail={data} onClose={onClose} onDone={onDone} />}
    </Dialog>
  );
}

interface RuleSetEditorProps {
  detail: RuleSetDetail | null;
  onClose: () => void;
  onDone: () => void;
}

function RuleSetEditor({ detail, onClose, onDone }: RuleSetEditorProps) {
  const api = useApi();
  const form = useForm<RuleSetForm>(formOf(detail));
  const save = async (values: RuleSetForm): Promise<void> => {
    const body = toBody(values, detail === null);
    if (detail) await api.put(`/rule-sets/${detail.id}`, body);
    else await api.post('/rule-sets', body);
    onDone();
    onClose();
  };
  return (
    <form onSubmit={form.submit(save)}>
      <RuleSetFields form={form} isNew={detail === null} />
      <FormEnd error={form.error} busy={form.busy} action={t('common.save')} onCancel={onClose} />
    </form>
  );
}

function RuleSetFields({ form, isNew }: { form: Form<RuleSetForm>; isNew: boolean }) {
  const { type } = form.values;
  const text = (name: 'name' | 'url' | 'path' | 'entries' | 'target') => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  const choice = <K extends 'type' | 'behavior' | 'format'>(name: K, values: readonly string[]) => ({
    value: form.values[name],
    problem: form.problem(name),
    choices: plainChoices(values),
    onChange: (value: string) => form.set(name, value as RuleSetForm[K]),
  });
  return (
    <>
      <TextField label={t('common.name')} required autofocus {...text('name')} />
      <div class="form-row">
        {isNew && <SelectField label={t('ruleSets.type')} {...choice('type', RULE_SET_TYPES)} />}
        <SelectField label={t('ruleSets.behavior')} {...choice('behavior', RULE_SET_BEHAVIORS)} />
        {type !== 'inline' && <SelectField label={t('ruleSets.format')} {...choice('format', RULE_SET_FORMATS)} />}
      </div>
      {type === 'http' && <TextField label={t('ruleSets.url')} type="url" required {...text('url')} />}
      {type === 'file' && (
        <TextField label={t('ruleSets.file')} hint={t('ruleSets.fileHint')} required {...text('path')} />
      )}
      {type === 'inline' && (
        <TextField label={t('words.entries')} hint={t('ruleSets.entriesHint')} rows={8} required {...text('entries')} />
      )}
      <TextField label={t('ruleSets.target')} hint={t('ruleSets.targetHint')} {...text('target')} />
      <CheckField
        label={t('common.enabled')}
        checked={form.values.enabled}
        onChange={(value) => form.set('enabled', value)}
      />
      {type === 'http' && (
        <CheckField
          label={t('ruleSets.allowPrivate')}
          checked={form.values.allow_private}
          onChange={(value) => form.set('allow_private', value)}
        />
      )}
    </>
  );
}
