import type { WebhookSetup } from '@gatehouse/webhooks';
import { SERVICE_VERSION } from '../service-version.js';

export const WEBHOOKS_TABLE = 'webhooks';

/** Where the gateway has its webhooks, which belong to users. */
export const WEBHOOK_SETUP: WebhookSetup = {
  tables: {
    webhooks: `tunnel_gateway_ops.${WEBHOOKS_TABLE}`,
    deliveries: 'tunnel_gateway_ops.webhook_deliveries',
    owner: 'JOIN tunnel_gateway.users u ON u.id = w.owner_user_id',
    ownerId: 'u.id',
    enabled: 'w.status = 1 AND u.status = 1',
    allowPrivate: `u.role = 'admin'`,
  },
  sealedAs: WEBHOOKS_TABLE,
  userAgent: `gatehouse-tunnel-gateway/${SERVICE_VERSION}`,
  metric: 'gatehouse_webhook_deliveries_total',
};
