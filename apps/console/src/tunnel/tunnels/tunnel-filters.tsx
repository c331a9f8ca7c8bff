import { SelectField } from '../../shared/components/fields.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { t } from '../messages/index.js';
import { ClientFilter } from '../parts/client-filter.js';
import { MODE_NAMES, TUNNEL_MODES } from './tunnel-modes.js';

export type TunnelFilter = { q: string; client_id: string; mode: string; run_status: string };

const MODES = [
  { value: '', label: t('tunnels.allTypes') },
  ...MODE_NAMES.map((value) => ({ value, label: TUNNEL_MODES[value].label })),
];
const STATES = [
  { value: '', label: t('tunnels.allStates') },
  { value: '1', label: t('tunnels.states.running') },
  { value: '2', label: t('tunnels.waitingForAgent') },
  { value: '3', label: t('tunnels.states.failed') },
  { value: '0', label: t('tunnels.states.stopped') },
];

interface TunnelFiltersProps {
  filter: TunnelFilter;
  onChange: (changes: Partial<TunnelFilter>) => void;
}

export function TunnelFilters({ filter, onChange }: TunnelFiltersProps) {
  return (
    <SearchBar
      label={t('tunnels.filter')}
      placeholder={t('tunnels.search')}
      value={filter.q}
      onInput={(q) => onChange({ q })}
    >
      <ClientFilter value={filter.client_id} onChange={(id) => onChange({ client_id: id })} />
      <SelectField
        label={t('common.type')}
        hideLabel
        value={filter.mode}
        choices={MODES}
        onChange={(mode) => onChange({ mode })}
      />
      <SelectField
        label={t('words.state')}
        hideLabel
        value={filter.run_status}
        choices={STATES}
        onChange={(state) => onChange({ run_status: state })}
      />
    </SearchBar>
  );
}
