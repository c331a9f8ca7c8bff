import { QUOTA_PERIODS, type QuotaPeriod, type TrafficQuotaView } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import { Badge } from '../../shared/components/page.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatTime } from '../../shared/format/times.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import type { QuotaForm } from './quota-form.js';

const PERIODS = QUOTA_PERIODS.map((value) => ({ value, label: t(`quotas.periods.${value}`) }));

interface QuotaFieldsProps<T extends QuotaForm> {
  form: Form<T>;
  /** As it is stored; null: of something new. */
  stored: TrafficQuotaView | null;
}

/** How much traffic something may have. */
export function QuotaFields<T extends QuotaForm>({ form, stored }: QuotaFieldsProps<T>) {
  const own = form as unknown as Form<QuotaForm>;
  return (
    <>
      <div class="form-row">
        <TextField
          label={t('quotas.quota')}
          hint={t('quotas.quotaHint')}
          value={own.values.traffic_quota}
          problem={own.problem('traffic_quota')}
          onInput={(quota) => own.set('traffic_quota', quota)}
        />
        <SelectField
          label={t('quotas.period')}
          hint={t('quotas.periodHint')}
          value={own.values.quota_period}
          choices={PERIODS}
          problem={own.problem('quota_period')}
          onChange={(period) => own.set('quota_period', period as QuotaPeriod)}
        />
      </div>
      {stored !== null && stored.period_traffic > 0 && own.values.traffic_quota.trim() !== '' && (
        <CheckField
          label={t('quotas.again', { used: formatBytes(stored.period_traffic) })}
          checked={own.values.period_traffic}
          problem={own.problem('period_traffic')}
          onChange={(again) => own.set('period_traffic', again)}
        />
      )}
    </>
  );
}

/** What is used of a quota, in one line. */
export function quotaText(view: TrafficQuotaView): string {
  const { traffic_quota: quota, quota_period: period, period_traffic: used } = view;
  return t(`quotas.usedOf.${period}`, { used: formatBytes(used), quota: formatBytes(quota) });
}

/** Only if the quota is used up. */
export function UsedUp({ view }: { view: TrafficQuotaView }) {
  if (!view.quota_used_up) return null;
  const { quota_resets_at: at } = view;
  const title = at === null ? t('quotas.usedUpHint') : t('quotas.usedUpUntil', { time: formatTime(at) });
  return (
    <Badge tone="bad" title={title}>
      {t('quotas.usedUp')}
    </Badge>
  );
}
