import { t } from '../messages/index.js';
import { useUser } from '../user-context.js';
import { useResourceNames } from './resource-names.js';

/** Whose each row is, by the id of its user. */
export function useOwners(rows: readonly { user_id: number }[]): (userId: number) => string {
  const me = useUser();
  const nameOf = useResourceNames(rows.map(({ user_id: id }) => ({ kind: 'user', id })));
  return (id) => (id === me.id ? t('words.yours') : nameOf('user', id));
}
