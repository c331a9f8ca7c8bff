export { runTraceably, UncertainCommitError, wasCommitted } from './commit-outcome.js';
export { backupDatabase, type BackupOptions } from './backup/backup-database.js';
export { readBackupHeader } from './backup/backup-file.js';
export { BackupError, type BackupHeader, type BackupTable } from './backup/backup-header.js';
export { BACKUP_SCHEMAS, LOG_TABLES } from './backup/catalogue.js';
export type { BackupProgress, ProgressHandler } from './backup/check-file.js';
export { checkInvariants, noRows, type CheckedInvariant } from './backup/invariants.js';
export {
  checkBackup,
  restoreDatabase,
  type BackupDemands,
  type CheckedBackup,
  type ReplacedRows,
  type RestoreOptions,
} from './backup/restore-database.js';
export type { CheckQuery, Invariant, StoredData } from './backup/stored-data.js';
export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from './embedded-postgres/errors.js';
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './embedded-postgres/start-embedded-postgres.js';
export { BigIntColumn, BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from './columns.js';
export {
  configOf,
  createDataSource,
  pgPool,
  POOL_SIZE,
  quoteIdentifier,
  schemaOf,
  urlOf,
  type DataSourceConfig,
} from './data-source.js';
export { checkDatabaseServer, DatabaseServerError } from './database-server.js';
export { OLDEST_POSTGRES } from './embedded-postgres/oldest-postgres.js';
export { checksumOf, readSqlFiles, SqlFilesError, SqlVersion, type SqlFile } from './sql-files.js';
export {
  compareReleases,
  NewerSchemaError,
  type NewerSchema,
  type Release,
  type ReleasedMigration,
} from './migration-releases.js';
export { LAYER_POOL_SIZE, layerOfWork, withLayer, type Layer } from './layered-pool.js';
export { migrate, pendingMigrations, type MigrateOptions, type SchemaCheckOptions } from './migrations.js';
export { addRangePartition, type RangePartition } from './partitions.js';
export { withClient, type PgClient, type PgConnection } from './pg-client.js';
export { TransactionSlots } from './transaction-slots.js';
export {
  afterCommit,
  beforeEachCommit,
  UnitOfWork,
  type AfterCommitHook,
  type IsolationLevel,
} from './unit-of-work.js';
export { PersistenceModule, type PersistenceModuleSource } from './persistence.module.js';
export { ChannelFeed } from './channel-feed.js';
export { notify, PgListener, type NotificationHandler, type PgListenerConfig } from './pg-listener.js';
export {
  createSecretBox,
  openFromRow,
  tryOpenFromRow,
  rowPlace,
  sealForRow,
  SecretBoxError,
  type SealedRow,
  type SecretBox,
} from '@gatehouse/net';
export { takeRowId, takeRowIds } from './row-id.js';
export { createDataKeyTable, dataKeyColumn, loadDataKey } from './data-keys.js';
export { resealDatabase, type ResealOutcome, type SealedColumn } from './reseal.js';
export { SECRET_BOX } from './secret-box.token.js';
export {
  findSecretKeys,
  loadSecretKey,
  loadSecretKeys,
  refuseLostSecretKey,
  SecretKeyError,
  type SecretKeySource,
} from './secret-key.js';
export { isLockTimeout } from './sql-errors.js';
export { noteRestore, readRestores, type RestoreNote } from './backup/restore-note.js';
