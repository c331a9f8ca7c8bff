import { ResourceField } from './resource-field.js';

interface ClientFilterProps {
  /** The id; empty: all. */
  value: string;
  onChange: (id: string) => void;
}

/** Narrows a list to what belongs to one client. */
export function ClientFilter({ value, onChange }: ClientFilterProps) {
  return <ResourceField kind="client" label="Client" hideLabel none="All clients" value={value} onChange={onChange} />;
}
