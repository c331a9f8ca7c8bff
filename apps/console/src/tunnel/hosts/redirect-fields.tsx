import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import type { HostForm } from './host-form.js';

const STATUSES = (['301', '302', '307', '308'] as const).map((value) => ({
  value,
  label: t(`hosts.redirect.statuses.${value}`),
}));

/** Sends visitors elsewhere in place of serving them. */
export function RedirectFields({ form }: { form: Form<HostForm> }) {
  const { redirect } = form.values;
  const change = (changes: Partial<HostForm['redirect']>): void => form.set('redirect', { ...redirect, ...changes });
  return (
    <details open={redirect.to !== ''}>
      <summary>{t('hosts.redirect.title')}</summary>
      <TextField
        label={t('hosts.redirect.to')}
        hint={t('hosts.redirect.toHint')}
        value={redirect.to}
        problem={form.problem('redirect')}
        onInput={(to) => change({ to })}
      />
      {redirect.to.trim() !== '' && (
        <>
          <SelectField
            label={t('hosts.redirect.status')}
            value={redirect.status}
            choices={STATUSES}
            onChange={(status) => change({ status })}
          />
          <CheckField
            label={t('hosts.redirect.keepPath')}
            checked={redirect.keep_path}
            onChange={(on) => change({ keep_path: on })}
          />
        </>
      )}
    </details>
  );
}
