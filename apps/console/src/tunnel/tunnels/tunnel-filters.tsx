import { SelectField } from '../../shared/components/fields.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { ClientFilter } from '../parts/client-filter.js';
import { MODE_NAMES, TUNNEL_MODES } from './tunnel-modes.js';

export interface TunnelFilter {
  q: string;
  client_id: string;
  mode: string;
  run_status: string;
}

const MODES = [
  { value: '', label: 'All kinds' },
  ...MODE_NAMES.map((value) => ({ value, label: TUNNEL_MODES[value].label })),
];
const STATES = [
  { value: '', label: 'All states' },
  { value: '1', label: 'Running' },
  { value: '2', label: 'Waiting for the agent' },
  { value: '3', label: 'Failed' },
  { value: '0', label: 'Stopped' },
];

interface TunnelFiltersProps {
  filter: TunnelFilter;
  onChange: (filter: TunnelFilter) => void;
}

export function TunnelFilters({ filter, onChange }: TunnelFiltersProps) {
  return (
    <SearchBar
      label="Filter tunnels"
      placeholder="Search in names, targets and ports"
      value={filter.q}
      onInput={(q) => onChange({ ...filter, q })}
    >
      <ClientFilter value={filter.client_id} onChange={(id) => onChange({ ...filter, client_id: id })} />
      <SelectField
        label="Kind"
        hideLabel
        value={filter.mode}
        choices={MODES}
        onChange={(mode) => onChange({ ...filter, mode })}
      />
      <SelectField
        label="State"
        hideLabel
        value={filter.run_status}
        choices={STATES}
        onChange={(state) => onChange({ ...filter, run_status: state })}
      />
    </SearchBar>
  );
}
