import { isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { bilingual } from '@gatehouse/i18n';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, IsUrl, Matches, Max, MaxLength, Min } from 'class-validator';
import { MinLength, ValidateBy, ValidateIf } from 'class-validator';
import { TracingSettings } from './tracing-settings.js';
import { Channel, Port, Variable } from './variable.js';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const WORKER_MODES = ['inline', 'separate'] as const;
export type WorkerMode = (typeof WORKER_MODES)[number];

/** Variables that every service understands. A service's own settings class extends this one. */
export class ServiceSettings extends TracingSettings {
  @Variable('GATEHOUSE_HOME', {
    expected: bilingual('a folder for keys, data and the first-login password', '存放密钥、数据和首次登录密码的目录'),
  })
  @IsString()
  home: string = resolve('.gatehouse');

  @Variable('DATABASE_URL', {
    expected: bilingual('postgres://user:password@host:port/database', 'postgres://用户:密码@主机:端口/数据库'),
    secret: true,
  })
  @Matches(/^postgres(ql)?:\/\/.+/)
  databaseUrl!: string;

  @Variable('REDIS_URL', {
    expected: bilingual(
      'redis://[user:password@]host:port or rediss://…',
      'redis://[用户:密码@]主机:端口 或 rediss://…',
    ),
    secret: true,
  })
  @IsOptional()
  @Matches(/^rediss?:\/\/.+/)
  redisUrl?: string;

  @Variable('REDIS_CA_FILE', {
    expected: bilingual(
      'a PEM file of the authorities that a rediss:// server is trusted by',
      'PEM 文件，包含信任的 rediss:// 服务器证书颁发机构',
    ),
  })
  @IsOptional()
  @IsString()
  redisCaFile?: string;

  @Variable('GATEHOUSE_ADMIN_PASSWORD', {
    expected: bilingual('a password of 8 to 256 characters', '8 到 256 个字符的密码'),
    secret: true,
  })
  @IsOptional()
  @MinLength(8)
  @MaxLength(256)
  adminPassword?: string;

  @Variable('GATEHOUSE_SECRET_KEYS', {
    alias: 'GATEHOUSE_SECRET_KEY',
    expected: bilingual(
      '32 bytes in base64 (openssl rand -base64 32), or several keys with commas between, newest first',
      'base64 编码的 32 字节（openssl rand -base64 32）；多个密钥以逗号分隔，最新的在前',
    ),
    secret: true,
  })
  @IsOptional()
  @IsSecretKey()
  secretKey?: string;

  /** The place for heads of the audit log outside the database. Default: a file in the home; `off`: none. */
  @Variable('AUDIT_WITNESS_FILE', {
    expected: bilingual(
      'a file, to whose name each service adds its own, or off',
      '文件（各服务会在文件名后加上自己的名称）或 off',
    ),
  })
  @IsOptional()
  @IsString()
  auditWitnessFile?: string;

  /** The receiver of the heads of the audit log, signed with AUDIT_WITNESS_SECRET. */
  @Variable('AUDIT_WITNESS_URL', {
    expected: bilingual(
      'an address such as https://witness.example.org/gatehouse',
      '网址，例如 https://witness.example.org/gatehouse',
    ),
  })
  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  auditWitnessUrl?: string;

  @Variable('AUDIT_WITNESS_SECRET', {
    expected: bilingual(
      'at least 16 characters, needed with AUDIT_WITNESS_URL',
      '至少 16 个字符，与 AUDIT_WITNESS_URL 一起设置',
    ),
    secret: true,
  })
  @ValidateIf(
    ({ auditWitnessUrl, auditWitnessSecret }: ServiceSettings) => (auditWitnessUrl ?? auditWitnessSecret) !== undefined,
  )
  @IsString()
  @MinLength(16)
  auditWitnessSecret?: string;

  @Variable('LOG_LEVEL', { expected: bilingual(`one of ${LOG_LEVELS.join(', ')}`, `${LOG_LEVELS.join('、')} 之一`) })
  @IsIn(LOG_LEVELS)
  logLevel: LogLevel = 'info';

  @Variable('WORKERS', {
    expected: bilingual(
      'inline (in the service) or separate (worker.js)',
      'inline（在服务内）或 separate（worker.js）',
    ),
  })
  @IsIn(WORKER_MODES)
  workers: WorkerMode = 'inline';

  /**
   * For a worker, which serves nothing else: `/healthz` and `/readyz` on the loopback address. Unset: it does not
   * listen.
   */
  @IsOptional()
  @Port('HEALTH_PORT')
  healthPort?: number;

  @Variable('AUTO_MIGRATE', { kind: 'boolean', expected: bilingual('true or false', 'true 或 false') })
  @IsBoolean()
  autoMigrate = false;

  @Variable('TRUSTED_PROXIES', {
    kind: 'list',
    expected: bilingual('addresses or CIDR ranges separated by commas', '以逗号分隔的地址或 CIDR 网段'),
  })
  @IsAddressRange()
  trustedProxies: readonly string[] = [];

  /**
   * The channel on which proxy-gateway names the client of the proxy behind a connection, and the other services ask
   * it.
   */
  @Channel('PROXY_CLIENTS_CHANNEL', 'proxy-gateway:7893')
  proxyClientsChannel?: string;

  @Variable('BIND_ADDRESS', {
    expected: bilingual(
      'an IPv4 or IPv6 address of this machine, such as 127.0.0.1 or 0.0.0.0',
      '本机的 IPv4 或 IPv6 地址，例如 127.0.0.1 或 0.0.0.0',
    ),
  })
  @IsAddress()
  bindAddress = '127.0.0.1';

  /** `/metrics` for everyone who reaches the service, instead of local programs only. */
  @Variable('METRICS_ON_PUBLIC_PORT', { kind: 'boolean', expected: bilingual('true or false', 'true 或 false') })
  @IsBoolean()
  metricsOnPublicPort = false;

  /**
   * A separate port for `/metrics`; then the service's own port does not serve it. Each service has its own variable.
   */
  readonly metricsPort?: number;

  /** The same for a worker. */
  @IsOptional()
  @Port('WORKER_METRICS_PORT')
  workerMetricsPort?: number;

  /** The address on which these ports listen. */
  @Variable('METRICS_ADDRESS', {
    expected: bilingual(
      'an IPv4 or IPv6 address of this machine, such as 127.0.0.1 or 0.0.0.0',
      '本机的 IPv4 或 IPv6 地址，例如 127.0.0.1 或 0.0.0.0',
    ),
  })
  @IsAddress()
  metricsAddress = '127.0.0.1';

  /** Requests a minute of one client address to one route. */
  @Variable('API_RATE_LIMIT', {
    kind: 'integer',
    expected: bilingual('requests a minute, 0 for no limit', '每分钟的请求数，0 表示不限制'),
  })
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  apiRateLimit = 6_000;

  @Variable('SHUTDOWN_TIMEOUT_MS', {
    kind: 'integer',
    expected: bilingual('milliseconds from 0 to 3600000', '0 到 3600000 毫秒'),
  })
  @IsInt()
  @Min(0)
  @Max(3_600_000)
  shutdownTimeoutMs = 3_000;

  /** How long a stopping process still accepts what comes, while `/readyz` answers 503: load balancers notice first. */
  @Variable('SHUTDOWN_DELAY_MS', {
    kind: 'integer',
    expected: bilingual('milliseconds from 0 to 60000', '0 到 60000 毫秒'),
  })
  @IsInt()
  @Min(0)
  @Max(60_000)
  shutdownDelayMs = 0;
}

/** True for an address or a masked range, IPv4 or IPv6. */
export function isAddressRange(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const [address = '', bits, ...rest] = text.split('/');
  const width = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1;
  if (width < 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
}

function IsAddressRange(): PropertyDecorator {
  return ValidateBy({ name: 'isAddressRange', validator: { validate: isAddressRange } }, { each: true });
}

function IsAddress(): PropertyDecorator {
  return ValidateBy({ name: 'isAddress', validator: { validate: (text) => isIPv4(text) || isIPv6(text) } });
}

function IsSecretKey(): PropertyDecorator {
  const isKey = (text: string): boolean =>
    /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) && Buffer.from(text, 'base64').length === 32;
  const validate = (text: unknown): boolean =>
    typeof text === 'string' && text.split(',').every((key) => isKey(key.trim()));
  return ValidateBy({ name: 'isSecretKey', validator: { validate } });
}
