import type { CountedResource } from '@gatehouse/contracts';
import { SelectField } from '../../shared/components/fields.js';
import { ResourceField } from '../parts/resource-field.js';

/** Whose traffic is shown. */
export interface Counted {
  resource_type: CountedResource;
  /** Empty: to be chosen. */
  resource_id: string;
}

interface TrafficChoiceProps {
  counted: Counted;
  /** All that one may see together. */
  everything: Counted;
  onChange: (counted: Counted) => void;
}

const KINDS = [
  { value: '', label: 'Everything' },
  { value: 'client', label: 'A client' },
  { value: 'tunnel', label: 'A tunnel' },
  { value: 'host', label: 'A host' },
];

export function TrafficChoice({ counted, everything, onChange }: TrafficChoiceProps) {
  const { resource_type: kind, resource_id: id } = counted;
  const isOne = kind === 'client' || kind === 'tunnel' || kind === 'host';
  return (
    <div class="filters" role="search" aria-label="Whose traffic">
      <SelectField
        label="Whose traffic"
        hideLabel
        value={isOne ? kind : ''}
        choices={KINDS}
        onChange={(value) =>
          onChange(value === '' ? everything : { resource_type: value as Counted['resource_type'], resource_id: '' })
        }
      />
      {isOne && (
        <ResourceField
          kind={kind}
          label={`Which ${kind}`}
          hideLabel
          value={id}
          onChange={(value) => onChange({ resource_type: kind, resource_id: value })}
        />
      )}
    </div>
  );
}
