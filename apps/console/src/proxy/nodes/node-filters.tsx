import { NODE_SOURCES, PROXY_NODE_TYPES, type CountryList, type SubscriptionList } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { SelectField, TextField, type Choice } from '../../shared/components/fields.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { useResource } from '../../shared/state/use-resource.js';
import type { NodeFilter } from './node-filter.js';

const ANY = (label: string): Choice => ({ value: '', label });
const ALIVE: Choice[] = [
  ANY('Any health'),
  { value: 'true', label: 'Answering' },
  { value: 'false', label: 'Not answering' },
  { value: 'unknown', label: 'Not tested' },
];
const ENABLED: Choice[] = [
  ANY('On and off'),
  { value: 'true', label: 'Enabled' },
  { value: 'false', label: 'Disabled' },
];
const TYPES: Choice[] = [ANY('Any type'), ...PROXY_NODE_TYPES.map((value) => ({ value, label: value }))];
const SOURCES: Choice[] = [ANY('Any source'), ...NODE_SOURCES.map((value) => ({ value, label: value }))];

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
      label="Filter nodes"
      placeholder="Search in name and server"
      value={filter.search}
      onInput={(search) => onChange({ search })}
    >
      {choice('country', 'Country', countries)}
      {choice('type', 'Type', TYPES)}
      {choice('subscription_id', 'Subscription', subscriptions)}
      {choice('source', 'Source', SOURCES)}
      {choice('alive', 'Health', ALIVE)}
      {choice('enabled', 'Enabled', ENABLED)}
      <TextField label="Tag" hideLabel placeholder="Tag" value={filter.tag} onInput={(tag) => onChange({ tag })} />
    </SearchBar>
  );
}

function useChoices(): { countries: Choice[]; subscriptions: Choice[] } {
  const api = useApi();
  const countries = useResource((signal) => api.get<CountryList>('/countries', {}, signal), []);
  const subscriptions = useResource((signal) => api.get<SubscriptionList>('/subscriptions', {}, signal), []);
  return {
    countries: [
      ANY('Any country'),
      ...(countries.data?.items ?? []).map(({ code, name, node_count }) => ({
        value: code ?? 'ZZ',
        label: `${code === null ? 'Not known' : name} (${node_count})`,
      })),
    ],
    subscriptions: [
      ANY('Any subscription'),
      ...(subscriptions.data?.items ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
    ],
  };
}
