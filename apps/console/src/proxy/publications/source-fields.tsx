import type { SubscriptionList } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import type { PublicationForm } from './publication-form.js';

const TAKES = [
  { value: 'all', label: t('publications.takes.all') },
  { value: 'some', label: t('publications.takes.some') },
];

/** Which nodes go in: all, or those of subscriptions, with tags, or added by hand. */
export function SourceFields({ form }: { form: Form<PublicationForm> }) {
  const { takes, tags, manual } = form.values;
  return (
    <>
      <SelectField
        label={t('publications.sources')}
        value={takes}
        choices={TAKES}
        onChange={(value) => form.set('takes', value as PublicationForm['takes'])}
      />
      {takes === 'some' && (
        <fieldset class="choices">
          <legend>{t('publications.someOf')}</legend>
          <SubscriptionChoices form={form} />
          <CheckField
            label={t('publications.manual')}
            checked={manual}
            onChange={(checked) => form.set('manual', checked)}
          />
          <TextField
            label={t('words.tags')}
            hint={t('publications.tagsHint')}
            value={tags}
            problem={form.problem('tags')}
            onInput={(text) => form.set('tags', text)}
          />
        </fieldset>
      )}
    </>
  );
}

function SubscriptionChoices({ form }: { form: Form<PublicationForm> }) {
  const api = useApi();
  const { data } = useResource((signal) => api.get<SubscriptionList>('/subscriptions', {}, signal), []);
  const chosen = form.values.subscription_ids;
  const choose = (id: number, isChosen: boolean): void =>
    form.set('subscription_ids', isChosen ? [...chosen, id] : chosen.filter((other) => other !== id));
  return (
    <>
      {data?.items.map(({ id, name }) => (
        <CheckField key={id} label={name} checked={chosen.includes(id)} onChange={(checked) => choose(id, checked)} />
      ))}
    </>
  );
}
