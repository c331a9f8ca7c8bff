import { t } from '../messages/index.js';
import { ResourceField } from './resource-field.js';

interface ClientFilterProps {
  /** The id; empty: all. */
  value: string;
  onChange: (id: string) => void;
}

/** Narrows a list to what belongs to one client. */
export function ClientFilter({ value, onChange }: ClientFilterProps) {
  return (
    <ResourceField
      kind="client"
      label={t('kinds.client')}
      hideLabel
      none={t('choose.allClients')}
      value={value}
      onChange={onChange}
    />
  );
}
