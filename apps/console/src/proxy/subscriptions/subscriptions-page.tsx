import type { ProfileList, SubscriptionList, SubscriptionView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { ActiveProfile } from './active-profile.js';
import { EditSubscription } from './edit-subscription.js';
import { ProfileDialog } from './profile-dialog.js';
import { RefreshOutcome } from './refresh-outcome.js';
import { RemoveSubscription } from './remove-subscription.js';
import { SubscriptionCard, type SubscriptionAction } from './subscription-card.js';

/** The API hands over all of them at once; this many cards are drawn. */
const SHOWN = 24;

type Opened = { action: SubscriptionAction | 'add'; subscription: SubscriptionView | null };

export function SubscriptionsPage() {
  const api = useApi();
  const [offset, setOffset] = useState(0);
  const [opened, setOpened] = useState<Opened | null>(null);
  const { data, error, reload } = useResource((signal) => api.get<SubscriptionList>('/subscriptions', {}, signal), [], {
    everyMs: 10_000,
    areas: ['subscriptions', 'nodes'],
  });
  const profiles = useResource((signal) => api.get<ProfileList>('/profiles', {}, signal), [], {
    everyMs: 10_000,
    areas: ['subscriptions', 'groups'],
  });
  const reloadAll = (): void => {
    reload();
    profiles.reload();
  };
  const close = (): void => setOpened(null);
  return (
    <Page
      title={t('nav.subscriptions')}
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ action: 'add', subscription: null })}>
          {t('subscriptions.add')}
        </button>
      }
    >
      <Trouble error={error} retry={reload} waits={data === undefined} />
      {data?.total === 0 && <p class="muted">{t('subscriptions.empty')}</p>}
      {profiles.data && <ActiveProfile profiles={profiles.data} onDone={reloadAll} />}
      <div class="cards">
        {data?.items.slice(offset, offset + SHOWN).map((subscription) => (
          <SubscriptionCard
            key={subscription.id}
            subscription={subscription}
            isActive={profiles.data?.active_subscription_id === subscription.id}
            onOpen={(action) => setOpened({ action, subscription })}
            reload={reload}
          />
        ))}
      </div>
      {data && data.total > SHOWN && (
        <Pager
          label={t('nav.subscriptions')}
          total={data.total}
          limit={SHOWN}
          offset={offset}
          onChange={(page) => setOffset(page.offset)}
        />
      )}
      {opened && <Opened opened={opened} profiles={profiles.data} onClose={close} reload={reloadAll} />}
    </Page>
  );
}

interface OpenedProps {
  opened: Opened;
  profiles: ProfileList | undefined;
  onClose: () => void;
  reload: () => void;
}

function Opened({ opened, profiles, onClose, reload }: OpenedProps) {
  const { action, subscription } = opened;
  if (subscription === null || action === 'edit')
    return <EditSubscription subscription={subscription} onClose={onClose} onDone={reload} />;
  if (action === 'remove') return <RemoveSubscription subscription={subscription} onClose={onClose} onDone={reload} />;
  if (action === 'profile')
    return <ProfileDialog subscription={subscription} profiles={profiles} onClose={onClose} onDone={reload} />;
  return <RefreshOutcome subscription={subscription} onClose={onClose} />;
}
