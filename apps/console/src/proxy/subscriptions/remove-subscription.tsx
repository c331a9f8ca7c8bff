import type { SubscriptionDeletedResponse, SubscriptionView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { useAction } from '../../shared/state/use-action.js';

interface RemoveSubscriptionProps {
  subscription: SubscriptionView;
  onClose: () => void;
  onDone: () => void;
}

export function RemoveSubscription({ subscription, onClose, onDone }: RemoveSubscriptionProps) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const remove = async (): Promise<void> => {
    const isDone = await run(async () => {
      const { removed_nodes: nodes } = await api.delete<SubscriptionDeletedResponse>(
        `/subscriptions/${subscription.id}`,
      );
      notify(`${subscription.name} was deleted, and ${nodes} nodes with it.`);
    });
    if (!isDone) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title="Delete this subscription?"
      action="Delete"
      busy={busy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>
        <strong>{subscription.name}</strong> goes, and those of its {subscription.node_count} nodes that nothing else
        carries.
      </p>
    </Confirm>
  );
}
