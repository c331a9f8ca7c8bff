import type { TunnelUserPage, TunnelUserView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { SelectField } from '../../shared/components/fields.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';

interface RemoveUserProps {
  user: TunnelUserView;
  onClose: () => void;
  onDone: () => void;
}

/** The clients of a removed user get another owner. */
export function RemoveUser({ user, onClose, onDone }: RemoveUserProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const [heir, setHeir] = useState('');
  const { data } = useResource((signal) => api.get<TunnelUserPage>('/users', { limit: 200 }, signal), []);
  const others = data?.items.filter(({ id }) => id !== user.id) ?? [];
  const remove = async (): Promise<void> => {
    const path = `/users/${user.id}`;
    if (!(await run(() => api.delete(path, { transfer_to: heir }), `${user.username} was removed.`))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm title="Delete this user?" action="Delete" busy={busy} onConfirm={() => void remove()} onClose={onClose}>
      <p>
        <strong>{user.username}</strong> is signed out everywhere, and keys of theirs end.
      </p>
      <SelectField
        label="Who gets the clients"
        hint="None: a user with clients cannot be removed"
        value={heir}
        choices={[
          { value: '', label: 'None: the user has no clients' },
          ...others.map(({ id, username }) => ({ value: String(id), label: username })),
        ]}
        onChange={setHeir}
      />
    </Confirm>
  );
}
