import type { TunnelUserPage } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { SelectField } from '../../shared/components/fields.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { useUser } from '../user-context.js';

interface UserFieldProps {
  label: string;
  value: string;
  problem?: string | undefined;
  onChange: (id: string) => void;
}

/** One of the console's users; for administrators, who may see them. */
export function UserField({ label, value, problem, onChange }: UserFieldProps) {
  const api = useApi();
  const me = useUser();
  const { data } = useResource((signal) => api.get<TunnelUserPage>('/users', { limit: 200 }, signal), []);
  const users = data?.items ?? [me];
  const known = users.some(({ id }) => String(id) === value);
  const choices = [
    ...(known || value === '' ? [] : [{ value, label: t('words.user', { id: value }) }]),
    ...users.map(({ id, username }) => ({ value: String(id), label: username })),
  ];
  return <SelectField label={label} value={value} choices={choices} problem={problem} onChange={onChange} />;
}
