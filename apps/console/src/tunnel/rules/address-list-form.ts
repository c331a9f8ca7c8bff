import type { AddressListView } from '@gatehouse/contracts';
import { numberOr } from '../clients/client-form.js';

export interface AddressListForm {
  name: string;
  url: string;
  interval_minutes: string;
  allow_private: boolean;
}

const DAY = 1_440;

export function formOf(list: AddressListView | null): AddressListForm {
  return {
    name: list?.name ?? '',
    url: list?.url ?? '',
    interval_minutes: String(list?.interval_minutes ?? DAY),
    allow_private: list?.allow_private ?? false,
  };
}

/** What can be changed: the name stays. */
export function toChanges({ url, interval_minutes, allow_private }: AddressListForm): Record<string, unknown> {
  return { url: url.trim(), interval_minutes: numberOr(interval_minutes, DAY), allow_private };
}

export function toBody(form: AddressListForm): Record<string, unknown> {
  return { name: form.name, ...toChanges(form) };
}
