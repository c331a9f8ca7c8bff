import { bilingual, type Bilingual } from '@gatehouse/i18n';
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
 * Migrates the schema if that is allowed.
 * @throws StartError for an outdated schema that it may not migrate, with the command to run.
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
    `数据库缺少 ${missing.length} 个迁移（${missing.join('、')}）：` +
      `请运行 node apps/${service}/dist/migrate.js，或设置 AUTO_MIGRATE=true`,
  );
}

const UNTRUSTED = bilingual(
  'its certificate is not signed by a trusted authority (sslrootcert names the file of another one)',
  '其证书不是由受信任的机构签发（可用 sslrootcert 指定其他机构的文件）',
);
const SILENT = bilingual('it does not answer', '它没有响应');
const NO_TLS = bilingual('it does not speak TLS (sslmode)', '它不支持 TLS（sslmode）');

/** Network, TLS and PostgreSQL codes that mean the connection string is wrong or the server is away. */
const CONNECTION_CODES = new Map([
  ['ECONNREFUSED', bilingual('nothing listens there', '该地址没有程序监听')],
  ['ENOTFOUND', bilingual('its host name is not known', '主机名不存在')],
  ['EAI_AGAIN', bilingual('its host name cannot be looked up', '无法解析主机名')],
  ['ETIMEDOUT', SILENT],
  ['ECONNRESET', bilingual('it closed the connection', '它关闭了连接')],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['CERT_SIGNATURE_FAILURE', UNTRUSTED],
  ['CERT_HAS_EXPIRED', bilingual('its certificate has expired', '其证书已过期')],
  ['ERR_TLS_CERT_ALTNAME_INVALID', bilingual('its certificate is for another name', '其证书属于其他名称')],
  [
    'ENOENT',
    bilingual(
      'a file that it names (sslrootcert, sslcert, sslkey) is missing',
      '其中指定的文件（sslrootcert、sslcert、sslkey）不存在',
    ),
  ],
  [
    'EACCES',
    bilingual(
      'a file that it names (sslrootcert, sslcert, sslkey) may not be read',
      '无权读取其中指定的文件（sslrootcert、sslcert、sslkey）',
    ),
  ],
  ['28P01', bilingual('it refuses the password', '它拒绝了密码')],
  ['28000', bilingual('it refuses the user', '它拒绝了用户')],
  ['3D000', bilingual('it has no such database', '它没有该数据库')],
  ['53300', bilingual('it has no connection left', '它的连接数已用尽')],
  ['57P03', bilingual('it is starting or stopping', '它正在启动或停止')],
]);

/** Runs database work and turns a failure to connect into a StartError that names DATABASE_URL. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = connectionProblem(error);
    if (reason === undefined) throw error;
    throw new StartError(
      `DATABASE_URL: the database cannot be used, ${reason.en}`,
      `DATABASE_URL: 无法使用数据库，${reason['zh-CN']}`,
      { cause: error },
    );
  }
}

function connectionProblem(error: unknown): Bilingual | undefined {
  if (error instanceof AggregateError) {
    return error.errors.map(connectionProblem).find((reason) => reason !== undefined);
  }
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  if (error.message.includes('timeout expired')) return SILENT;
  if (error.message.includes('does not support SSL')) return NO_TLS;
  return CONNECTION_CODES.get(code);
}
