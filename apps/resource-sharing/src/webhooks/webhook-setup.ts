import type { WebhookSetup } from '@gatehouse/webhooks';
import { SERVICE_NAME, SERVICE_VERSION } from '../service-version.js';

const SCHEMA = 'resource_sharing';

/** Where the service has its webhooks, which belong to applications. */
export const WEBHOOK_SETUP: WebhookSetup = {
  tables: {
    webhooks: `${SCHEMA}.webhooks`,
    deliveries: `${SCHEMA}.webhook_deliveries`,
    attempts: `${SCHEMA}.webhook_attempts`,
    owner: `JOIN ${SCHEMA}.applications a ON a.id = w.application_id JOIN ${SCHEMA}.site_accounts o ON o.id = a.owner_id`,
    ownerId: 'o.id',
    // Also of a disabled application, so that its developer learns of it.
    enabled: 'w.status = 1 AND o.disabled_at IS NULL',
    allowPrivate: `o.role = 'administrator'`,
  },
  sealedAs: 'application_webhooks',
  userAgent: `gatehouse-${SERVICE_NAME}/${SERVICE_VERSION}`,
  // Not that of the tunnel gateway, which an alert watches: receivers of developers are not the operator's business.
  metric: 'gatehouse_application_webhook_deliveries_total',
};
