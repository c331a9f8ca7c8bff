import type { GroupDeleted, OutboundGroupView } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { useAction } from '../../shared/state/use-action.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';

interface RemoveGroupProps {
  group: OutboundGroupView;
  onClose: () => void;
  onDone: () => void;
}

export function RemoveGroup({ group, onClose, onDone }: RemoveGroupProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const remove = async (): Promise<void> => {
    const path = `/outbound/groups/${segment(group.name)}`;
    if (!(await run(() => api.delete<GroupDeleted>(path), t('notice.deleted', { name: group.name })))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('groups.deleteTitle')}
      action={t('common.delete')}
      busy={busy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>{rich('groups.deleteText', { name: group.name, b: bold })}</p>
    </Confirm>
  );
}
