import type { SubscriptionDeletedResponse, SubscriptionView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { useAction } from '../../shared/state/use-action.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';

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
      notify(t('subscriptions.deleted', { name: subscription.name, count: nodes }));
    });
    if (!isDone) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('subscriptions.deleteTitle')}
      action={t('common.delete')}
      busy={busy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>{rich('subscriptions.deleteText', { name: subscription.name, count: subscription.node_count, b: bold })}</p>
    </Confirm>
  );
}
