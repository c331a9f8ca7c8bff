import {
  SUBSCRIPTION_TYPES,
  type ProfilePreview,
  type RefreshResult,
  type SubscriptionView,
} from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { messageOf } from '../../shared/api/api-error.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField, FormEnd, plainChoices, SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useAction } from '../../shared/state/use-action.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { describeRefresh } from './describe-refresh.js';
import { ProfileReport } from './profile-report.js';
import { formOf, toBody, type SubscriptionForm } from './subscription-form.js';

interface EditSubscriptionProps {
  /** Null: a new one. */
  subscription: SubscriptionView | null;
  onClose: () => void;
  onDone: () => void;
}

/** Adds a subscription and fetches it at once, or changes one. */
export function EditSubscription({ subscription, onClose, onDone }: EditSubscriptionProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<SubscriptionForm>(formOf(subscription));
  const firstRefresh = async ({ id, name }: SubscriptionView): Promise<void> => {
    try {
      const result = await api.post<RefreshResult>(`/subscriptions/${id}/refresh`);
      notify(
        t('subscriptions.resultOf', { name, result: describeRefresh(result) }),
        result.status === 'updated' ? 'good' : 'bad',
      );
    } catch (error) {
      notify(t('subscriptions.resultOf', { name, result: messageOf(error) }), 'bad');
    }
    onDone();
  };
  const save = async (values: SubscriptionForm): Promise<void> => {
    const body = toBody(values);
    if (subscription) await api.put(`/subscriptions/${subscription.id}`, body);
    else void firstRefresh(await api.post<SubscriptionView>('/subscriptions', body));
    onDone();
    onClose();
  };
  return (
    <Dialog
      title={subscription ? t('subscriptions.editTitle', { name: subscription.name }) : t('subscriptions.addTitle')}
      onClose={onClose}
    >
      <form onSubmit={form.submit(save)}>
        <SubscriptionFields form={form} />
        <FormPreview values={form.values} />
        <FormEnd
          error={form.error}
          busy={form.busy}
          action={subscription ? t('common.save') : t('common.add')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}

/** What the document at the address has besides nodes, before anything is stored. */
function FormPreview({ values }: { values: SubscriptionForm }) {
  const api = useApi();
  const { busy, run } = useAction();
  const [seen, setSeen] = useState<ProfilePreview | null>(null);
  const { url, type, user_agent: userAgent, allow_private: allowPrivate } = values;
  const look = async (): Promise<void> => {
    const body = { url, type, user_agent: userAgent, allow_private: allowPrivate };
    await run(async () => setSeen(await api.post<ProfilePreview>('/subscriptions/preview', body)));
  };
  return (
    <>
      <p class="actions">
        <button type="button" disabled={busy || url.trim() === ''} onClick={() => void look()}>
          {busy ? t('profiles.reading') : t('profiles.look')}
        </button>
      </p>
      {seen && (
        <>
          <p>{t('profiles.previewText', { nodes: seen.nodes, groups: seen.groups.length })}</p>
          <ProfileReport report={seen.report} />
        </>
      )}
    </>
  );
}

function SubscriptionFields({ form }: { form: ReturnType<typeof useForm<SubscriptionForm>> }) {
  const text = (name: 'name' | 'url' | 'interval' | 'user_agent') => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  const check = (name: 'allow_private' | 'bring_rules') => ({
    checked: form.values[name],
    onChange: (value: boolean) => form.set(name, value),
  });
  return (
    <>
      <TextField label={t('common.name')} required autofocus {...text('name')} />
      <TextField label={t('subscriptions.url')} type="url" required {...text('url')} />
      <div class="form-row">
        <SelectField
          label={t('subscriptions.type')}
          hint={t('subscriptions.typeHint')}
          value={form.values.type}
          choices={plainChoices(SUBSCRIPTION_TYPES)}
          onChange={(type) => form.set('type', type as SubscriptionForm['type'])}
        />
        <TextField
          label={t('subscriptions.interval')}
          type="text"
          hint={t('subscriptions.intervalHint')}
          {...text('interval')}
          problem={form.problem('interval_sec') ?? form.problem('interval')}
        />
      </div>
      <TextField label={t('subscriptions.userAgent')} hint={t('subscriptions.userAgentHint')} {...text('user_agent')} />
      <CheckField label={t('subscriptions.bringRules')} {...check('bring_rules')} />
      <CheckField label={t('subscriptions.allowPrivate')} {...check('allow_private')} />
    </>
  );
}
