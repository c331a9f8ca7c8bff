import type { SubscriptionTraffic } from '@gatehouse/contracts';
import { Meter } from '../../shared/components/meter.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { expiryTone, quotaOf } from './quota-state.js';

/** What the provider says is used, and until when it runs. */
export function Quota({ traffic, name }: { traffic: SubscriptionTraffic; name: string }) {
  const { used, ratio, tone } = quotaOf(traffic);
  const expiry = expiryTone(traffic.expire_at, Date.now());
  return (
    <div>
      {ratio !== null && <Meter label={`Quota of ${name}`} ratio={ratio} tone={tone} />}
      <p class="muted">
        {used !== null && `${formatBytes(used)} used`}
        {traffic.total !== null && ` of ${formatBytes(traffic.total)}, ${formatBytes(traffic.remaining)} left`}
        {traffic.expire_at !== null && (
          <span class={expiry === 'none' ? '' : 'problem'} title={formatTime(traffic.expire_at)}>
            {` · ${expiry === 'bad' ? 'expired' : 'expires'} ${formatRelative(traffic.expire_at)}`}
          </span>
        )}
      </p>
    </div>
  );
}
