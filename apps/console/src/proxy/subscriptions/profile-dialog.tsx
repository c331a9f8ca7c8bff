import type { ProfileList, ProfilePreview, SubscriptionView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Trouble } from '../../shared/components/page.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { ProfileReport } from './profile-report.js';

interface ProfileDialogProps {
  subscription: SubscriptionView;
  profiles: ProfileList | undefined;
  onClose: () => void;
  onDone: () => void;
}

/** The profile of a subscription: what taking it would do, or what it brought, and whether it drives the rules. */
export function ProfileDialog({ subscription, profiles, onClose, onDone }: ProfileDialogProps) {
  const taken = profiles?.items.find(({ subscription_id: id }) => id === subscription.id);
  const title = t('profiles.title', { name: subscription.name });
  return (
    <Dialog title={title} onClose={onClose} wide>
      {taken ? (
        <>
          <p>{t(taken.active ? 'profiles.isActive' : 'profiles.isNotActive')}</p>
          <ProfileReport report={taken.report} />
          <Choose id={taken.active ? null : subscription.id} onClose={onClose} onDone={onDone} />
        </>
      ) : (
        <Preview subscription={subscription} onClose={onClose} onDone={onDone} />
      )}
    </Dialog>
  );
}

type Part = Omit<ProfileDialogProps, 'profiles'>;

/** @param props.id the subscription whose profile becomes active; null: none. */
function Choose({ id, onClose, onDone }: Omit<Part, 'subscription'> & { id: number | null }) {
  const api = useApi();
  const { busy, run } = useAction();
  const choose = async (): Promise<void> => {
    const isDone = await run(() => api.put('/profiles/active', { subscription_id: id }), t('profiles.switched'));
    if (!isDone) return;
    onDone();
    onClose();
  };
  return (
    <div class="actions">
      <button type="button" class={id === null ? '' : 'primary'} disabled={busy} onClick={() => void choose()}>
        {t(id === null ? 'profiles.stop' : 'profiles.use')}
      </button>
    </div>
  );
}

function Preview({ subscription, onClose, onDone }: Part) {
  const api = useApi();
  const { busy, run } = useAction();
  const { id } = subscription;
  const { data, error } = useResource(
    () => api.post<ProfilePreview>('/subscriptions/preview', { subscription_id: id }),
    [id],
  );
  const take = async (): Promise<void> => {
    const isDone = await run(async () => {
      await api.put(`/subscriptions/${id}`, { bring_rules: true });
      await api.post(`/subscriptions/${id}/refresh`);
    }, t('profiles.taken'));
    onDone();
    if (isDone) onClose();
  };
  return (
    <>
      <Trouble error={error} />
      {!data && error === null && <p class="muted">{t('profiles.reading')}</p>}
      {data && (
        <>
          <p>
            {t('profiles.previewText', { nodes: data.nodes, groups: data.groups.length })}{' '}
            {data.active_subscription_id !== null && t('profiles.waits')}
          </p>
          <ProfileReport report={data.report} />
          <div class="actions">
            <button type="button" class="primary" disabled={busy} onClick={() => void take()}>
              {t('profiles.take')}
            </button>
          </div>
        </>
      )}
    </>
  );
}
