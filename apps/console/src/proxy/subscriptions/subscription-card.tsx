import type { RefreshResult, SubscriptionStatus, SubscriptionView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Switch } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, type BadgeTone } from '../../shared/components/page.js';
import { safeLink } from '../../shared/format/links.js';
import { formatDuration, formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';
import { describeRefresh } from './describe-refresh.js';
import { Quota } from './quota.js';

/** What the buttons of a card open. */
export type SubscriptionAction = 'edit' | 'remove' | 'result' | 'profile';

const TONES: Record<SubscriptionStatus, BadgeTone> = { never: 'none', ok: 'good', warning: 'fair', error: 'bad' };

interface SubscriptionCardProps {
  subscription: SubscriptionView;
  /** Its profile drives the rules. */
  isActive: boolean;
  onOpen: (action: SubscriptionAction) => void;
  reload: () => void;
}

export function SubscriptionCard({ subscription, isActive, onOpen, reload }: SubscriptionCardProps) {
  const { id, name, status, enabled, node_count: nodes, alive_count: alive, last_error: error } = subscription;
  const interval = formatDuration(subscription.interval_sec * 1000);
  return (
    // No landmark: names of subscriptions need not differ.
    <article class="card" aria-label={name}>
      <header class="card-head">
        <h2>
          {name} <Badge tone={TONES[status]}>{t(`subscriptions.statuses.${status}`)}</Badge>{' '}
          {isActive && <Badge tone="good">{t('profiles.active')}</Badge>}
        </h2>
        <EnabledSwitch subscription={subscription} reload={reload} />
      </header>
      <ProviderLine subscription={subscription} />
      <p>
        <a href={hrefTo('nodes', { subscription_id: id })}>{t('subscriptions.nodesAlive', { nodes, alive })}</a>
        {subscription.skipped_count > 0 && (
          <span class="muted">{t('subscriptions.skippedEntries', { count: subscription.skipped_count })}</span>
        )}
      </p>
      {subscription.traffic && <Quota traffic={subscription.traffic} name={name} />}
      {error !== null && <p class="problem">{error.message}</p>}
      <p class="muted" title={t('subscriptions.lastSuccess', { time: formatTime(subscription.last_success_at) })}>
        {subscription.last_success_at === null
          ? t('subscriptions.neverRefreshed', { interval })
          : t('subscriptions.refreshed', { time: formatRelative(subscription.last_success_at), interval })}
        {enabled && t('subscriptions.nextRefresh', { time: formatRelative(subscription.next_refresh_at) })}
        {subscription.consecutive_failures > 1 &&
          t('subscriptions.failures', { count: subscription.consecutive_failures })}
      </p>
      <CardActions subscription={subscription} onOpen={onOpen} reload={reload} />
    </article>
  );
}

/** Texts of the provider are shown as they are; an address becomes a link only if it is http or https. */
function ProviderLine({ subscription: { url, profile } }: { subscription: SubscriptionView }) {
  const site = safeLink(profile?.web_page_url);
  const support = safeLink(profile?.support_url);
  return (
    <>
      <p class="second mono" title={url}>
        {url}
      </p>
      {profile?.announce && <p>{profile.announce}</p>}
      {profile?.notices.map((notice) => (
        <p key={notice} class="muted">
          {notice}
        </p>
      ))}
      {(site !== null || support !== null) && (
        <p class="actions">
          {site !== null && <OutsideLink href={site}>{t('subscriptions.providerPage')}</OutsideLink>}
          {support !== null && <OutsideLink href={support}>{t('subscriptions.support')}</OutsideLink>}
        </p>
      )}
    </>
  );
}

function OutsideLink({ href, children }: { href: string; children: string }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function EnabledSwitch({ subscription, reload }: { subscription: SubscriptionView; reload: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const change = async (enabled: boolean): Promise<void> => {
    await run(() => api.put(`/subscriptions/${subscription.id}`, { enabled }));
    reload();
  };
  return (
    <Switch
      label={t('subscriptions.autoRefresh', { name: subscription.name })}
      checked={subscription.enabled}
      disabled={busy}
      onChange={(enabled) => void change(enabled)}
    />
  );
}

function CardActions({ subscription, onOpen, reload }: Omit<SubscriptionCardProps, 'isActive'>) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const refresh = async (force: boolean): Promise<void> => {
    await run(async () => {
      const path = `/subscriptions/${subscription.id}/refresh`;
      const result = await api.post<RefreshResult>(path, undefined, force ? { force } : {});
      const isWell = result.status === 'updated' || result.status === 'not_modified';
      notify(
        t('subscriptions.resultOf', { name: subscription.name, result: describeRefresh(result) }),
        isWell ? 'good' : 'bad',
      );
    });
    reload();
  };
  return (
    <div class="actions">
      <button
        type="button"
        disabled={busy}
        aria-label={t('subscriptions.refreshName', { name: subscription.name })}
        onClick={() => void refresh(false)}
      >
        {busy ? t('subscriptions.refreshing') : t('words.refresh')}
      </button>
      <button type="button" disabled={busy} title={t('subscriptions.forceHint')} onClick={() => void refresh(true)}>
        {t('subscriptions.force')}
      </button>
      {subscription.last_checked_at !== null && (
        <button type="button" onClick={() => onOpen('result')}>
          {t('subscriptions.lastResult')}
        </button>
      )}
      {subscription.profile_id === null && (
        <button type="button" onClick={() => onOpen('profile')}>
          {t('profiles.button')}
        </button>
      )}
      <button type="button" onClick={() => onOpen('edit')}>
        {t('common.edit')}
      </button>
      <button type="button" class="danger" onClick={() => onOpen('remove')}>
        {t('common.deleteMore')}
      </button>
    </div>
  );
}
