import { SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import type { HealthForm, HostForm } from './host-form.js';

const TYPES = [
  { value: '', label: t('hosts.health.off') },
  { value: 'http', label: t('hosts.health.http') },
  { value: 'tcp', label: t('hosts.health.tcp') },
];

/** How targets are checked between visits. */
export function HealthFields({ form }: { form: Form<HostForm> }) {
  const { health_check: check } = form.values;
  const change = (changes: Partial<HealthForm>): void => form.set('health_check', { ...check, ...changes });
  const text = (name: Exclude<keyof HealthForm, 'type'>) => ({
    value: check[name],
    onInput: (value: string) => change({ [name]: value }),
  });
  return (
    <details open={check.type !== ''}>
      <summary>{t('hosts.health.title')}</summary>
      <SelectField
        label={t('hosts.health.type')}
        value={check.type}
        choices={TYPES}
        problem={form.problem('health_check')}
        onChange={(type) => change({ type: type as HealthForm['type'] })}
      />
      {check.type === 'http' && (
        <div class="form-row">
          <TextField label={t('hosts.health.path')} {...text('path')} />
          <TextField label={t('hosts.health.status')} {...text('expected_status')} />
        </div>
      )}
      {check.type !== '' && (
        <>
          <div class="form-row">
            <TextField label={t('hosts.health.interval')} {...text('interval_seconds')} />
            <TextField label={t('hosts.health.timeout')} {...text('timeout_seconds')} />
          </div>
          <div class="form-row">
            <TextField label={t('hosts.health.unhealthy')} {...text('unhealthy_threshold')} />
            <TextField label={t('hosts.health.healthy')} {...text('healthy_threshold')} />
          </div>
        </>
      )}
    </details>
  );
}
