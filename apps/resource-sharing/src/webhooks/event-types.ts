/** What applications can be sent. A new one needs a place that writes it, a description and a text in both languages. */
export const WEBHOOK_EVENTS = [
  'grant.created',
  'grant.changed',
  'grant.ended',
  'application.reviewed',
  'share.unlocked',
  'quota.near',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Sent on demand, to one webhook. */
export const TEST_EVENT = 'webhook.test';
