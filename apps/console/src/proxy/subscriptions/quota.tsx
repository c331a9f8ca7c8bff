import type { SubscriptionTraffic } from '@gatehouse/contracts';
import { Meter } from '../../shared/components/meter.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { expiryTone, quotaOf } from './quota-state.js';

/** What the provider says is used, and until when it runs. */
export function Quota({ traffic, name }: { traffic: SubscriptionTraffic; name: string }) {
  const { used, ratio, tone } = quotaOf(traffic);
  const expiry = expiryTone(traffic.expire_at, Date.now());
  return (
    <div>
      {ratio !== null && <Meter label={t('subscriptions.quotaOf', { name })} ratio={ratio} tone={tone} />}
      <p class="muted">
        {used !== null && t('subscriptions.used', { used: formatBytes(used) })}
        {traffic.total !== null &&
          t('subscriptions.ofTotal', { total: formatBytes(traffic.total), remaining: formatBytes(traffic.remaining) })}
        {traffic.expire_at !== null && (
          <span class={expiry === 'none' ? '' : 'problem'} title={formatTime(traffic.expire_at)}>
            {t(expiry === 'bad' ? 'subscriptions.expired' : 'subscriptions.expires', {
              time: formatRelative(traffic.expire_at),
            })}
          </span>
        )}
      </p>
    </div>
  );
}
