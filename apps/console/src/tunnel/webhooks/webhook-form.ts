import type { EventType, WebhookView } from '@gatehouse/contracts';

export interface WebhookForm {
  name: string;
  url: string;
  /** None: all. */
  event_types: readonly EventType[];
}

export function formOf(webhook: WebhookView | null): WebhookForm {
  return { name: webhook?.name ?? '', url: webhook?.url ?? '', event_types: webhook?.event_types ?? [] };
}

export function toBody({ name, url, event_types }: WebhookForm): Record<string, unknown> {
  return { name, url: url.trim(), event_types };
}
