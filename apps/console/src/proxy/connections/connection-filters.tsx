import type { ConnectionView } from '@gatehouse/contracts';
import { SelectField } from '../../shared/components/fields.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { t } from '../messages/index.js';
import {
  choicesOf,
  isFiltered,
  NO_FILTER,
  NO_RULE,
  type ChoiceField,
  type ConnectionFilter,
} from './connection-filter.js';

interface ConnectionFiltersProps {
  rows: readonly ConnectionView[];
  filter: ConnectionFilter;
  onChange: (changes: Partial<ConnectionFilter>) => void;
}

const FIELDS: readonly { field: ChoiceField; label: string; any: string }[] = [
  { field: 'node', label: t('connections.node'), any: t('connections.anyNode') },
  { field: 'rule', label: t('connections.rule'), any: t('connections.anyRule') },
  { field: 'source_ip', label: t('connections.client'), any: t('connections.anyClient') },
  { field: 'inbound', label: t('connections.inbound'), any: t('connections.anyInbound') },
  { field: 'kernel', label: t('connections.kernel'), any: t('connections.anyKernel') },
];

/** With a single kernel there is nothing to choose. */
function fieldsFor(rows: readonly ConnectionView[], filter: ConnectionFilter): typeof FIELDS {
  const hasKernels = filter.kernel !== '' || rows.some(({ kernel }) => kernel !== null);
  return hasKernels ? FIELDS : FIELDS.filter(({ field }) => field !== 'kernel');
}

export function ConnectionFilters({ rows, filter, onChange }: ConnectionFiltersProps) {
  return (
    <SearchBar
      label={t('connections.filter')}
      placeholder={t('connections.search')}
      value={filter.search}
      onInput={(search) => onChange({ search })}
    >
      {fieldsFor(rows, filter).map(({ field, label, any }) => (
        <SelectField
          key={field}
          label={label}
          hideLabel
          value={filter[field]}
          choices={[
            { value: '', label: any },
            ...choicesOf(rows, field, filter[field]).map(({ value, count }) => ({
              value,
              label: t('connections.choice', { name: value === NO_RULE ? t('connections.noRule') : value, count }),
            })),
          ]}
          onChange={(value) => onChange({ [field]: value })}
        />
      ))}
      {isFiltered(filter) && (
        <button type="button" onClick={() => onChange(NO_FILTER)}>
          {t('connections.resetFilter')}
        </button>
      )}
    </SearchBar>
  );
}
