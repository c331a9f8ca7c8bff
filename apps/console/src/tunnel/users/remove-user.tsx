import type { TunnelUserPage, TunnelUserView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { SelectField } from '../../shared/components/fields.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';

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
    if (!(await run(() => api.delete(path, { transfer_to: heir }), t('notice.deleted', { name: user.username }))))
      return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('users.deleteTitle')}
      action={t('common.delete')}
      busy={busy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>{rich('users.deleteText', { name: user.username, b: bold })}</p>
      <SelectField
        label={t('users.heir')}
        hint={t('users.heirHint')}
        value={heir}
        choices={[
          { value: '', label: t('users.noHeir') },
          ...others.map(({ id, username }) => ({ value: String(id), label: username })),
        ]}
        onChange={setHeir}
      />
    </Confirm>
  );
}
