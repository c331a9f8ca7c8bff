import { NODE_SOURCES, PROXY_NODE_TYPES, type CountryList, type SubscriptionList } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { SelectField, TextField, type Choice } from '../../shared/components/fields.js';
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
  return (
    <div class="filters" role="search" aria-label="Filter nodes">
      <div class="search">
        <TextField
          label="Search in name and server"
          hideLabel
          type="search"
          placeholder="Search in name and server"
          value={filter.search}
          onInput={(search) => onChange({ search })}
        />
      </div>
      <SelectField
        label="Country"
        hideLabel
        value={filter.country}
        choices={countries}
        onChange={(country) => onChange({ country })}
      />
      <SelectField label="Type" hideLabel value={filter.type} choices={TYPES} onChange={(type) => onChange({ type })} />
      <SelectField
        label="Subscription"
        hideLabel
        value={filter.subscription_id}
        choices={subscriptions}
        onChange={(subscription_id) => onChange({ subscription_id })}
      />
      <SelectField
        label="Source"
        hideLabel
        value={filter.source}
        choices={SOURCES}
        onChange={(source) => onChange({ source })}
      />
      <SelectField
        label="Health"
        hideLabel
        value={filter.alive}
        choices={ALIVE}
        onChange={(alive) => onChange({ alive })}
      />
      <SelectField
        label="Enabled"
        hideLabel
        value={filter.enabled}
        choices={ENABLED}
        onChange={(enabled) => onChange({ enabled })}
      />
      <TextField label="Tag" hideLabel placeholder="Tag" value={filter.tag} onInput={(tag) => onChange({ tag })} />
    </div>
  );
}

function useChoices(): { countries: Choice[]; subscriptions: Choice[] } {
  const api = useApi();
  const countries = useResource((signal) => api.get<CountryList>('/countries', {}, signal), []);
  const subscriptions = useResource((signal) => api.get<SubscriptionList>('/subscriptions', {}, signal), []);
  return {
    countries: [
      ANY('Any country'),
      ...(countries.data?.items ?? []).map(({ code, name, flag, node_count }) => ({
        value: code ?? 'ZZ',
        label: `${flag ?? ''} ${code === null ? 'Not known' : name} (${node_count})`.trim(),
      })),
    ],
    subscriptions: [
      ANY('Any subscription'),
      ...(subscriptions.data?.items ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
    ],
  };
}
