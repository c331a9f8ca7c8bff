import type { StoredData } from '@gatehouse/persistence';
import { databaseConfig, MODEL_SCHEMA, OPERATIONS_SCHEMA, SERVICE_NAME } from './database.js';

/** What backup and restore have to know about this service. */
export const STORED_DATA: StoredData = {
  service: SERVICE_NAME,
  schemas: [MODEL_SCHEMA, OPERATIONS_SCHEMA],
  database: databaseConfig,
  invariants: [],
};
