import { TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import type { LimitsForm } from './publish-form.js';

/** Limits of the client, which all its services share. */
export function LimitFields({ form }: { form: Form<LimitsForm> }) {
  const text = (name: keyof LimitsForm) => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <details class="card">
      <summary>{t('publishing.limits')}</summary>
      <p class="hint">{t('publishing.limitsHint')}</p>
      <div class="form-row">
        <TextField
          label={t('clients.rateLimit')}
          hint={t('publishing.unchanged')}
          type="number"
          {...text('rate_limit')}
        />
        <TextField label={t('clients.maxConn')} hint={t('publishing.unchanged')} type="number" {...text('max_conn')} />
        <TextField
          label={t('common.expires')}
          hint={t('publishing.unchanged')}
          type="datetime-local"
          {...text('expire_at')}
        />
      </div>
    </details>
  );
}
