export { readOutboundUrl as readWebhookUrl } from '@gatehouse/net';
export { MAX_ATTEMPTS, WebhookAttempts } from './webhook-attempts.js';
export { WebhookDeliveryModule } from './webhook-delivery.module.js';
export { WebhookFanOut } from './webhook-fan-out.js';
export { WebhookReplays } from './webhook-replays.js';
export { webhookSecretColumn, WebhookSecrets } from './webhook-secrets.js';
export type { WebhookOptions, WebhookSetup, WebhookTables } from './webhook-setup.js';
export { messageBody, WebhookSource, type NewDelivery, type TakenEvents } from './webhook-source.js';
export { webhookStarter } from './webhook-starter.js';
