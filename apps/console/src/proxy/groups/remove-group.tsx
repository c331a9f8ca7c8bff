import type { GroupDeleted, OutboundGroupView } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { useAction } from '../../shared/state/use-action.js';

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
    if (!(await run(() => api.delete<GroupDeleted>(path), `${group.name} was deleted.`))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm title="Delete this group?" action="Delete" busy={busy} onConfirm={() => void remove()} onClose={onClose}>
      <p>
        <strong>{group.name}</strong> goes; its nodes stay. While a rule, another group or the default policy uses it,
        the service refuses.
      </p>
    </Confirm>
  );
}
