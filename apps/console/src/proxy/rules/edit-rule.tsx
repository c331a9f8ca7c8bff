import type { OutboundOverview, RuleView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField, FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { formOf, RULE_TYPES, toBody, type RuleForm } from './rule-form.js';

interface EditRuleProps {
  /** Null: a new one. */
  rule: RuleView | null;
  onClose: () => void;
  onDone: () => void;
}

export function EditRule({ rule, onClose, onDone }: EditRuleProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<RuleForm>(formOf(rule));
  const save = async (values: RuleForm): Promise<void> => {
    const body = toBody(values);
    const { raw } = rule
      ? await api.put<RuleView>(`/rules/${rule.id}`, body)
      : await api.post<RuleView>('/rules', body);
    notify(t('words.saved', { name: raw }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={rule ? t('rules.editTitle') : t('rules.addTitle')} onClose={onClose}>
      <form onSubmit={form.submit(save)}>
        <RuleFields form={form} />
        <FormEnd
          error={form.error ?? form.problem('raw') ?? null}
          busy={form.busy}
          action={t('common.save')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}

function RuleFields({ form }: { form: Form<RuleForm> }) {
  const targets = useTargets();
  const text = (name: 'type' | 'payload' | 'target' | 'note') => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  const check = (name: 'no_resolve' | 'src') => ({
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
    </>
  );
}

function useTargets(): readonly string[] {
  const api = useApi();
  const { data } = useResource((signal) => api.get<OutboundOverview>('/outbound', { members: false }, signal), []);
  return [...new Set([...(data?.policies ?? []), 'DIRECT', 'REJECT', 'REJECT-DROP', 'PASS'])];
}
