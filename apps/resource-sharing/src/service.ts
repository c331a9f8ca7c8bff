import { defineService } from '@gatehouse/service';
import { MIGRATIONS } from './migrations/index.js';
import { SERVICE_NAME, SERVICE_VERSION } from './service-version.js';
import { TEST_LAYER } from './data/test-layer.js';
import { readSettings, ResourceSharingSettings } from './settings.js';
import { SiteAccount } from './site/site-account.entity.js';

export const SERVICE = defineService({
  name: SERVICE_NAME,
  settings: ResourceSharingSettings,
  readSettings,
  database: {
    schema: 'resource_sharing',
    entities: [SiteAccount],
    migrations: MIGRATIONS,
    release: SERVICE_VERSION,
    sqlFolder: new URL('../data/sql/', import.meta.url),
    layer: { ...TEST_LAYER, sqlFolder: new URL('../data/test-mode-sql/', import.meta.url) },
    usedTable: 'resource_sharing.site_accounts',
  },
  queues: ['retention', 'mail', 'webhook-fan-out', 'webhook-delivery'],
});
