import type { PublicationTemplateList } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { CheckField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { TARGET_NAMES } from './address.js';
import type { PublicationForm } from './publication-form.js';

/** The user's own documents, of which each stands in place of the built-in groups and rules in its format. */
export function TemplateChoices({ form }: { form: Form<PublicationForm> }) {
  const api = useApi();
  const { data } = useResource((signal) => api.get<PublicationTemplateList>('/publication-templates', {}, signal), []);
  const chosen = form.values.template_ids;
  const problem = form.problem('template_ids');
  if (!data || data.items.length === 0) return null;
  const choose = (id: number, isChosen: boolean): void =>
    form.set('template_ids', isChosen ? [...chosen, id] : chosen.filter((other) => other !== id));
  return (
    <fieldset class="choices">
      <legend>{t('templates.choose')}</legend>
      {data.items.map(({ id, name, target }) => (
        <CheckField
          key={id}
          label={t('templates.choice', { name, format: TARGET_NAMES[target] })}
          checked={chosen.includes(id)}
          onChange={(checked) => choose(id, checked)}
        />
      ))}
      {problem && <p class="problem">{problem}</p>}
    </fieldset>
  );
}
