import type { JsonLogger } from '../logging/json-logger.js';
import { StartError } from '../errors/start-error.js';

export interface SchemaPreparation {
  readonly service: string;
  /** AUTO_MIGRATE. */
  readonly autoMigrate: boolean;
  /** Names of the migrations that the database lacks. */
  readonly pending: () => Promise<string[]>;
  /** Runs them under a lock and resolves to their names. */
  readonly migrate: () => Promise<string[]>;
  readonly logger: JsonLogger;
}

/**
 * Migrates the schema if that is allowed; otherwise raises StartError for an outdated schema, with the command to run.
 */
export async function prepareSchema({
  service,
  autoMigrate,
  pending,
  migrate,
  logger,
}: SchemaPreparation): Promise<void> {
  if (autoMigrate) {
    const applied = await explained(migrate);
    if (applied.length > 0) logger.log('schema migrated', { migrations: applied }, 'Service');
    return;
  }
  const missing = await explained(pending);
  if (missing.length === 0) return;
  throw new StartError(
    `the database lacks ${missing.length} migration${missing.length === 1 ? '' : 's'} (${missing.join(', ')}): ` +
      `run node apps/${service}/dist/migrate.js, or set AUTO_MIGRATE=true`,
  );
}

const UNTRUSTED = 'its certificate is not signed by a trusted authority (sslrootcert names the file of another one)';

/** Network, TLS and PostgreSQL codes that mean the connection string is wrong or the server is away. */
const CONNECTION_CODES = new Map([
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOTFOUND', 'its host name is not known'],
  ['EAI_AGAIN', 'its host name cannot be looked up'],
  ['ETIMEDOUT', 'it does not answer'],
  ['ECONNRESET', 'it closed the connection'],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['CERT_SIGNATURE_FAILURE', UNTRUSTED],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['ENOENT', 'a file that it names (sslrootcert, sslcert, sslkey) is missing'],
  ['EACCES', 'a file that it names (sslrootcert, sslcert, sslkey) may not be read'],
  ['28P01', 'it refuses the password'],
  ['28000', 'it refuses the user'],
  ['3D000', 'it has no such database'],
  ['53300', 'it has no connection left'],
  ['57P03', 'it is starting or stopping'],
]);

/** Runs database work and turns a failure to connect into a StartError that names DATABASE_URL. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = connectionProblem(error);
    if (reason === undefined) throw error;
    throw new StartError(`DATABASE_URL: the database cannot be used, ${reason}`, { cause: error });
  }
}

function connectionProblem(error: unknown): string | undefined {
  if (error instanceof AggregateError) {
    return error.errors.map(connectionProblem).find((reason) => reason !== undefined);
  }
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  if (error.message.includes('timeout expired')) return 'it does not answer';
  if (error.message.includes('does not support SSL')) return 'it does not speak TLS (sslmode)';
  return CONNECTION_CODES.get(code);
}
