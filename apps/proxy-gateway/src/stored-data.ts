import type { StoredData } from '@gatehouse/persistence';
import { databaseConfig } from './database.js';
import { SERVICE_NAME } from './service-version.js';

/** What backup and restore have to know about this service. */
export const STORED_DATA: StoredData = {
  service: SERVICE_NAME,
  schemas: ['proxy_gateway'],
  database: (databaseUrl, applicationName) => databaseConfig({ databaseUrl }, applicationName),
  invariants: [],
};
