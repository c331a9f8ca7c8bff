/**
 * The database server and its clients, without TypeORM and Nest, which take a third of a second of processor time to load: for
 * programs that start a server, or look into a database.
 */
export { checkDatabaseServer, DatabaseServerError } from './database-server.js';
export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from './embedded-postgres/errors.js';
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './embedded-postgres/start-embedded-postgres.js';
export { withClient, type PgClient, type PgConnection } from './pg-client.js';
export { findSecretKeys, SecretKeyError } from './secret-key.js';
