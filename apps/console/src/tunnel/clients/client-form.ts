import type { TunnelClientView } from '@gatehouse/contracts';
import { fromLocalField, toLocalField } from '../../shared/format/times.js';
import { quotaBody, quotaFormOf, type QuotaForm } from '../parts/quota-form.js';

export interface ClientForm extends QuotaForm {
  name: string;
  rate_limit: string;
  max_conn: string;
  /** Local time, as the browser's own field has it; empty: never. */
  expire_at: string;
  encrypt: boolean;
  owner_user_id: string;
}

export function formOf(client: TunnelClientView | null): ClientForm {
  return {
    name: client?.name ?? '',
    rate_limit: String(client?.rate_limit ?? 0),
    max_conn: String(client?.max_conn ?? 0),
    expire_at: toLocalField(client?.expire_at ?? null),
    encrypt: client?.encrypt ?? true,
    ...quotaFormOf(client),
    owner_user_id: client === null ? '' : String(client.owner_user_id),
  };
}

export function toBody(form: ClientForm): Record<string, unknown> {
  const { name, encrypt, owner_user_id: owner } = form;
  return {
    name,
    encrypt,
    rate_limit: numberOr(form.rate_limit, 0),
    max_conn: numberOr(form.max_conn, 0),
    expire_at: fromLocalField(form.expire_at),
    ...quotaBody(form),
    ...(owner !== '' && { owner_user_id: numberOr(owner, 0) }),
  };
}

/** What differs from the client as it was read: the rest may have been changed by others. */
export function changesOf(client: TunnelClientView, form: ClientForm): Record<string, unknown> {
  const before = toBody(formOf(client));
  return Object.fromEntries(Object.entries(toBody(form)).filter(([name, value]) => value !== before[name]));
}

/** Numbers as numbers; what is none goes as it is, so that the service says what would be right. */
export function numberOr(text: string, empty: number): number | string {
  const trimmed = text.trim();
  if (trimmed === '') return empty;
  return /^-?\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}
