import type { CountedResource } from '@gatehouse/contracts';
import { SelectField } from '../../shared/components/fields.js';
import { t } from '../messages/index.js';
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
  { value: '', label: t('traffic.everything') },
  { value: 'client', label: t('kinds.client') },
  { value: 'tunnel', label: t('kinds.tunnel') },
  { value: 'host', label: t('kinds.host') },
];

export function TrafficChoice({ counted, everything, onChange }: TrafficChoiceProps) {
  const { resource_type: kind, resource_id: id } = counted;
  const isOne = kind === 'client' || kind === 'tunnel' || kind === 'host';
  return (
    <div class="filters" role="search" aria-label={t('traffic.filter')}>
      <SelectField
        label={t('traffic.resource')}
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
          label={t(`kinds.${kind}`)}
          hideLabel
          value={id}
          onChange={(value) => onChange({ resource_type: kind, resource_id: value })}
        />
      )}
    </div>
  );
}
