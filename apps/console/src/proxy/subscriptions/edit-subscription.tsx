import { SUBSCRIPTION_TYPES, type RefreshResult, type SubscriptionView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { messageOf } from '../../shared/api/api-error.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField, FormEnd, plainChoices, SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useForm } from '../../shared/state/use-form.js';
import { describeRefresh } from './describe-refresh.js';
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
      notify(`${name}: ${describeRefresh(result)}`, result.status === 'updated' ? 'good' : 'bad');
    } catch (error) {
      notify(`${name}: ${messageOf(error)}`, 'bad');
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
    <Dialog title={subscription ? `Edit ${subscription.name}` : 'Add a subscription'} onClose={onClose}>
      <form onSubmit={form.submit(save)}>
        <SubscriptionFields form={form} />
        <FormEnd error={form.error} busy={form.busy} action={subscription ? 'Save' : 'Add'} onCancel={onClose} />
      </form>
    </Dialog>
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
      <TextField label="Name" required autofocus {...text('name')} />
      <TextField label="Address" type="url" required {...text('url')} />
      <div class="form-row">
        <SelectField
          label="Kind"
          hint="auto looks at the content"
          value={form.values.type}
          choices={plainChoices(SUBSCRIPTION_TYPES)}
          onChange={(type) => form.set('type', type as SubscriptionForm['type'])}
        />
        <TextField
          label="Refresh every (hours)"
          type="text"
          hint="Empty: as the provider says"
          {...text('interval')}
          problem={form.problem('interval_sec') ?? form.problem('interval')}
        />
      </div>
      <TextField label="User-Agent" hint="Empty: as in the settings" {...text('user_agent')} />
      <CheckField label="Take its rules into routing" {...check('bring_rules')} />
      <CheckField label="Its address may be private or on this machine" {...check('allow_private')} />
    </>
  );
}
