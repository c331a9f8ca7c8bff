export { backupDatabase, type BackupOptions } from './backup/backup-database.js';
export { BackupError, readBackupHeader, type BackupHeader, type BackupTable } from './backup/backup-file.js';
export { BACKUP_SCHEMAS } from './backup/catalogue.js';
export { restoreDatabase, type RestoreOptions } from './backup/restore-database.js';
export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from './embedded-postgres/errors.js';
export {
  embeddedPostgresUrl,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './embedded-postgres/start-embedded-postgres.js';
export { BigIntColumn, BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from './columns.js';
export { createDataSource, pgPool, quoteIdentifier, schemaOf, urlOf, type DataSourceConfig } from './data-source.js';
export { migrate, NewerSchemaError, pendingMigrations, type MigrateOptions } from './migrations.js';
export { withClient, type PgClient } from './pg-client.js';
export { poolTypes } from './pool-types.js';
export { afterCommit, UnitOfWork, type AfterCommitHook, type IsolationLevel } from './unit-of-work.js';
export { PersistenceModule, type PersistenceModuleSource } from './persistence.module.js';
export { notify, PgListener, type NotificationHandler, type PgListenerConfig } from './pg-listener.js';
export { createSecretBox, SecretBoxError, type SecretBox } from './secret-box.js';
export { loadSecretKey, SecretKeyError, type SecretKeySource } from './secret-key.js';
