import type { Form } from '../state/use-form.js';
import { FormEnd } from './fields.js';
import { t } from '../messages/index.js';

interface SaveEndProps {
  form: Pick<Form<object>, 'error' | 'busy' | 'outdated'>;
  action: string;
  onCancel: () => void;
  /** Reads the row again, in place of what was typed. */
  onReload: () => void;
}

/** The end of a form about a row that others may change at the same time. */
export function SaveEnd({ form: { error, busy, outdated }, action, onCancel, onReload }: SaveEndProps) {
  if (!outdated) return <FormEnd error={error} busy={busy} action={action} onCancel={onCancel} />;
  return (
    <>
      <div class="trouble" role="alert">
        <span>{t('form.changedByOthers')}</span>
        <button type="button" onClick={onReload}>
          {t('form.reload')}
        </button>
      </div>
      <FormEnd error={null} busy={busy} action={action} onCancel={onCancel} />
    </>
  );
}
