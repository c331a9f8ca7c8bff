export { isRefusedData, mayPass, sqlStateOf } from './database-errors.js';
export {
  JOB_PATIENCE,
  KEEP_ALIVE,
  limitSilence,
  MIGRATION_PATIENCE,
  prepareSession,
  SERVICE_PATIENCE,
  type DatabaseClient,
  type Patience,
  type SessionSettings,
} from './database-session.js';
export { listenHeartbeat } from './listen-heartbeat.js';
export { KEPT_CONNECTIONS, patientPool } from './patient-pool.js';
export { poolTypes } from './pool-types.js';
export { halveRows, writeBatches, type BatchSteps } from './refused-batches.js';
