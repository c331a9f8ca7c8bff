import type { StoredData } from '@gatehouse/persistence';
import { databaseConfig, SERVICE_NAME } from './database.js';

/** What backup and restore have to know about this service. */
export const STORED_DATA: StoredData = {
  service: SERVICE_NAME,
  schemas: ['resource_sharing'],
  database: databaseConfig,
  invariants: [],
};
