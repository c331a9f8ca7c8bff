import { NODE_SOURCES, PROXY_NODE_TYPES, type CountryList, type SubscriptionList } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { SelectField, TextField, type Choice } from '../../shared/components/fields.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import type { NodeFilter } from './node-filter.js';

const ANY = (label: string): Choice => ({ value: '', label });
const ALIVE: Choice[] = [
  ANY(t('nodes.anyHealth')),
  { value: 'true', label: t('nodes.alive') },
  { value: 'false', label: t('nodes.dead') },
  { value: 'unknown', label: t('nodes.untested') },
];
const ENABLED: Choice[] = [
  ANY(t('nodes.enabledAny')),
  { value: 'true', label: t('nodes.enabled') },
  { value: 'false', label: t('nodes.disabled') },
];
const TYPES: Choice[] = [ANY(t('nodes.anyType')), ...PROXY_NODE_TYPES.map((value) => ({ value, label: value }))];
const SOURCES: Choice[] = [
  ANY(t('nodes.anySource')),
  ...NODE_SOURCES.map((value) => ({ value, label: t(`nodes.sourceNames.${value}`) })),
];

interface NodeFiltersProps {
  filter: NodeFilter;
  onChange: (changes: Partial<NodeFilter>) => void;
}

export function NodeFilters({ filter, onChange }: NodeFiltersProps) {
  const { countries, subscriptions } = useChoices();
  const choice = (name: keyof NodeFilter, label: string, choices: readonly Choice[]) => (
    <SelectField
      label={label}
      hideLabel
      value={filter[name]}
      choices={choices}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
  return (
    <SearchBar
      label={t('nodes.filter')}
      placeholder={t('nodes.search')}
      value={filter.search}
      onInput={(search) => onChange({ search })}
    >
      {choice('country', t('words.country'), countries)}
      {choice('type', t('common.type'), TYPES)}
      {choice('subscription_id', t('nodes.subscription'), subscriptions)}
      {choice('source', t('words.source'), SOURCES)}
      {choice('alive', t('nodes.health'), ALIVE)}
      {choice('enabled', t('common.enabled'), ENABLED)}
      <TextField
        label={t('nodes.tag')}
        hideLabel
        placeholder={t('nodes.tag')}
        value={filter.tag}
        onInput={(tag) => onChange({ tag })}
      />
    </SearchBar>
  );
}

function useChoices(): { countries: Choice[]; subscriptions: Choice[] } {
  const api = useApi();
  const countries = useResource((signal) => api.get<CountryList>('/countries', {}, signal), []);
  const subscriptions = useResource((signal) => api.get<SubscriptionList>('/subscriptions', {}, signal), []);
  return {
    countries: [
      ANY(t('nodes.anyCountry')),
      ...(countries.data?.items ?? []).map(({ code, name, node_count }) => ({
        value: code ?? 'ZZ',
        label: t('nodes.countOf', { name: code === null ? t('nodes.unknownCountry') : name, count: node_count }),
      })),
    ],
    subscriptions: [
      ANY(t('nodes.anySubscription')),
      ...(subscriptions.data?.items ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
    ],
  };
}
