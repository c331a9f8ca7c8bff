import type { SubscriptionType, SubscriptionView } from '@gatehouse/contracts';

export interface SubscriptionForm {
  name: string;
  url: string;
  type: SubscriptionType;
  /** Hours; empty: the default. */
  interval: string;
  /** Stands for `interval` in what the service refuses. */
  interval_sec: null;
  user_agent: string;
  allow_private: boolean;
  bring_rules: boolean;
}

export function formOf(subscription: SubscriptionView | null): SubscriptionForm {
  const hours = subscription?.interval_source === 'user' ? String(subscription.interval_sec / 3_600) : '';
  return {
    name: subscription?.name ?? '',
    url: subscription?.url ?? '',
    type: subscription?.type ?? 'auto',
    interval: hours,
    interval_sec: null,
    user_agent: subscription?.user_agent ?? '',
    allow_private: subscription?.allow_private ?? false,
    bring_rules: subscription?.bring_rules ?? false,
  };
}

/** What is no number goes to the service as it is, which says what is wrong with it. */
export function toBody({ interval, interval_sec: _unused, ...rest }: SubscriptionForm): Record<string, unknown> {
  const hours = Number(interval.replace(',', '.'));
  if (interval.trim() === '') return rest;
  return { ...rest, interval_sec: Number.isFinite(hours) ? Math.round(hours * 3_600) : interval };
}
