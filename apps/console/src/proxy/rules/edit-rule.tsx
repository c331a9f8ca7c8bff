import type { Page, RuleView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import type { ApiClient } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField, FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { hrefTo } from '../../shared/state/route.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { formOf, RULE_TYPES, toBody, type RuleForm } from './rule-form.js';
import { useTargets } from './use-targets.js';

interface EditRuleProps {
  /** Null: a new one. */
  rule: RuleView | null;
  onClose: () => void;
  onDone: () => void;
}

export function EditRule({ rule, onClose, onDone }: EditRuleProps) {
  const saved = (): void => {
    onDone();
    onClose();
  };
  return (
    <Dialog title={rule ? t('rules.editTitle') : t('rules.addTitle')} onClose={onClose}>
      <RuleEditor rule={rule} initial={formOf(rule)} neighbour={null} onClose={onClose} onSaved={saved} />
    </Dialog>
  );
}

interface RuleEditorProps {
  /** Null: a new one. */
  rule: RuleView | null;
  initial: RuleForm;
  /** A manual rule that a new one may be placed before. */
  neighbour: RuleView | null;
  onClose: () => void;
  onSaved: () => void | Promise<void>;
  /** Above the fields. */
  head?: (form: Form<RuleForm>) => ComponentChildren;
  /** Below the fields. */
  children?: ComponentChildren;
}

export function RuleEditor({ rule, initial, neighbour, onClose, onSaved, head, children }: RuleEditorProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<RuleForm>(initial);
  const save = async (values: RuleForm): Promise<void> => {
    const body = toBody(values);
    const saved = rule
      ? await api.put<RuleView>(`/rules/${rule.id}`, body)
      : await api.post<RuleView>('/rules', { ...body, ...(await placeOf(api, values.place, neighbour)) });
    const show = { label: t('rules.show'), run: () => void (location.hash = addressOf(saved)) };
    notify(t('words.saved', { name: saved.raw }), 'good', rule ? undefined : show);
    await onSaved();
  };
  return (
    <form onSubmit={form.submit(save)}>
      {head?.(form)}
      <RuleFields form={form} />
      {rule === null && <PlaceField form={form} neighbour={neighbour} />}
      {children}
      <FormEnd
        error={form.error ?? form.problem('raw') ?? null}
        busy={form.busy}
        action={t('common.save')}
        onCancel={onClose}
      />
    </form>
  );
}

/** Where the list of rules shows this one. */
function addressOf({ type, payload }: RuleView): string {
  return hrefTo('rules', payload === '' ? { type } : { search: payload, type });
}

/** The fields of the API for a place in the order. */
async function placeOf(
  api: ApiClient,
  place: RuleForm['place'],
  neighbour: RuleView | null,
): Promise<{ before_id?: number }> {
  if (place === 'end') return {};
  if (place === 'before' && neighbour !== null) return { before_id: neighbour.id };
  const [first] = (await api.get<Page<RuleView>>('/rules', { source: 'manual', limit: 1 })).items;
  return first === undefined ? {} : { before_id: first.id };
}

function PlaceField({ form, neighbour }: { form: Form<RuleForm>; neighbour: RuleView | null }) {
  return (
    <SelectField
      label={t('rules.position')}
      hint={t('rules.positionHint')}
      value={form.values.place}
      choices={[
        ...(neighbour === null ? [] : [{ value: 'before', label: t('rules.before', { name: neighbour.raw }) }]),
        { value: 'start', label: t('rules.atStart') },
        { value: 'end', label: t('rules.atEnd') },
      ]}
      onChange={(place) => form.set('place', place as RuleForm['place'])}
    />
  );
}

function RuleFields({ form }: { form: Form<RuleForm> }) {
  const targets = useTargets();
  const text = (name: 'type' | 'payload' | 'target' | 'note') => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  const check = (name: 'after_profile' | 'no_resolve' | 'src') => ({
    checked: form.values[name],
    onChange: (value: boolean) => form.set(name, value),
  });
  return (
    <>
      <TextField label={t('rules.type')} hint={t('rules.typeHint')} required list={RULE_TYPES} {...text('type')} />
      <TextField label={t('rules.payload')} hint={t('rules.payloadHint')} autofocus {...text('payload')} />
      <TextField label={t('words.target')} hint={t('rules.targetHint')} required list={targets} {...text('target')} />
      <TextField label={t('rules.note')} {...text('note')} />
      <CheckField label={t('rules.noResolve')} {...check('no_resolve')} />
      <CheckField label={t('rules.src')} {...check('src')} />
      <CheckField label={t('rules.afterProfile')} hint={t('rules.afterProfileHint')} {...check('after_profile')} />
    </>
  );
}
