import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { bilingual } from '@gatehouse/i18n';
import { Channels, loadSettings, Port, ServiceSettings, Variable } from '@gatehouse/platform';
import type { Environment } from '@gatehouse/platform';
import { IsBoolean, IsIn, IsInt, IsIP, IsOptional, Matches, Max, Min } from 'class-validator';

export const PRIVATE_TARGETS = ['allow', 'refuse'] as const;

/** Everything the service reads from its environment, once, at boot. */
export class ProxyGatewaySettings extends ServiceSettings {
  @Port('PROXY_GATEWAY_PORT')
  port = 8080;

  @IsOptional()
  @Port('PROXY_GATEWAY_METRICS_PORT')
  override readonly metricsPort?: number;

  @Port('PROXY_KERNEL_PORT')
  kernelPort = 7890;

  /** Of the proxy itself. A setting in the database goes before it. */
  @Variable('PROXY_KERNEL_ADDRESS', {
    expected: bilingual(
      'an IPv4 or IPv6 address of this machine, such as 127.0.0.1 or 0.0.0.0',
      '本机的 IPv4 或 IPv6 地址，例如 127.0.0.1 或 0.0.0.0',
    ),
  })
  @IsIP()
  kernelAddress = '127.0.0.1';

  /** Who may use the proxy itself. The setting `kernel.users` goes before it; both empty: everyone who can reach it. */
  @Variable('PROXY_KERNEL_USERS', {
    kind: 'list',
    expected: bilingual('user:password pairs separated by commas', '以逗号分隔的 用户:密码'),
    secret: true,
  })
  @Matches(/^[\x21-\x39\x3b-\x7e]{1,255}:[\x21-\x7e]{1,255}$/, { each: true })
  kernelUsers: readonly string[] = [];

  /** For `kernel.mode` mihomo. Without the variable, the program of that name in PATH. Empty: there is none. */
  @Variable('PROXY_GATEWAY_MIHOMO', {
    expected: bilingual('the absolute path of a mihomo program', 'mihomo 程序的绝对路径'),
  })
  @Matches(/^(\/.*)?$/)
  mihomo = '';

  /** Of the proxy itself: what is not in the Internet, without a rule that names it. A setting in the database goes before it. */
  @Variable('PROXY_KERNEL_PRIVATE_TARGETS', { expected: bilingual('allow or refuse', 'allow 或 refuse') })
  @IsIn(PRIVATE_TARGETS)
  privateTargets: (typeof PRIVATE_TARGETS)[number] = 'allow';

  /** Whether the service starts the kernel itself, or finds one that runs on its own (`kernel.js`). */
  @Variable('PROXY_KERNEL', {
    expected: bilingual(
      'own (started by the service) or separate (kernel.js)',
      'own（由服务启动）或 separate（kernel.js）',
    ),
  })
  @IsIn(['own', 'separate'])
  kernel: 'own' | 'separate' = 'own';

  /** Of separate kernels: where one listens for services, and where services find all of them. */
  @Channels('PROXY_KERNEL_CHANNEL', 'proxy-kernel:7891')
  kernelChannel?: readonly string[];

  /** Of a separate kernel: `/healthz` and `/readyz`. */
  @Port('PROXY_KERNEL_HEALTH_PORT')
  kernelHealthPort = 7892;

  /** Of a separate kernel: a port for `/metrics` alone; the health port has none then. */
  @IsOptional()
  @Port('PROXY_KERNEL_METRICS_PORT')
  kernelMetricsPort?: number;

  @Variable('PROXY_KERNEL_HEALTH_ADDRESS', {
    expected: bilingual(
      'an IPv4 or IPv6 address of this machine, such as 127.0.0.1 or 0.0.0.0',
      '本机的 IPv4 或 IPv6 地址，例如 127.0.0.1 或 0.0.0.0',
    ),
  })
  @IsIP()
  kernelHealthAddress = '127.0.0.1';

  /** Of a separate kernel: the name that people see. */
  @Variable('PROXY_KERNEL_NAME', {
    expected: bilingual(
      'a name of up to 100 letters, digits, dots, dashes and underscores',
      '最多 100 个字符的名称，可含文字、数字、点、连字符和下划线',
    ),
  })
  @IsOptional()
  @Matches(/^[\p{L}\p{N}._-]{1,100}$/u)
  kernelName?: string;

  /** Of a separate kernel: where clients of the proxy reach this one. It is only shown. */
  @Variable('PROXY_KERNEL_PUBLIC_HOST', {
    expected: bilingual(
      'a host name or an address, such as kernel-1.example.org',
      '主机名或地址，例如 kernel-1.example.org',
    ),
  })
  @IsOptional()
  @Matches(/^([a-z0-9_.-]{1,253}|[0-9a-f:.]{2,45})$/i)
  kernelPublicHost?: string;

  /** Of a separate kernel: replaces the configured address of its listeners, where several kernels share a machine. */
  @Variable('PROXY_KERNEL_LISTEN_ADDRESS', {
    expected: bilingual(
      'an IPv4 or IPv6 address of this machine, such as 127.0.0.2',
      '本机的 IPv4 或 IPv6 地址，例如 127.0.0.2',
    ),
  })
  @IsOptional()
  @IsIP()
  kernelListenAddress?: string;

  /** Of a separate kernel: how long a draining one still accepts connections, so that load balancers notice first. */
  @Variable('PROXY_KERNEL_DRAIN_DELAY_MS', {
    kind: 'integer',
    expected: bilingual('milliseconds, 0 to 8000', '0 到 8000 毫秒'),
  })
  @IsInt()
  @Min(0)
  @Max(8_000)
  kernelDrainDelayMs = 0;

  /** Besides this service, its database and Redis. */
  @Variable('PROXY_KERNEL_OWN_ENDPOINTS', {
    kind: 'list',
    expected: bilingual(
      'services that the proxy must not lead to, as host:port or, on this machine, :port, separated by commas',
      '代理不得访问的服务，格式为 主机:端口，本机则为 :端口，以逗号分隔',
    ),
  })
  @Matches(/^(\[[0-9a-f:.]+\]|[^\s:[\]]*):\d{1,5}$/i, { each: true })
  ownEndpoints: readonly string[] = [];

  /** Of a separate kernel: where the service and its worker reach the proxy itself, as `subscription.via_proxy` needs it. */
  @Variable('PROXY_KERNEL_HOST', {
    expected: bilingual('a host name or an address, such as proxy-kernel', '主机名或地址，例如 proxy-kernel'),
  })
  @Matches(/^([a-z0-9_.-]{1,253}|[0-9a-f:.]{2,45})?$/i)
  kernelHost = '';

  @Variable('PROXY_GATEWAY_ALLOW_OPEN', { kind: 'boolean', expected: bilingual('true or false', 'true 或 false') })
  @IsBoolean()
  allowOpen = false;

  /** Names under which the service is reached; asked for only while login is off. */
  @Variable('PROXY_GATEWAY_HOSTS', {
    kind: 'list',
    expected: bilingual('host names separated by commas', '以逗号分隔的主机名'),
  })
  @Matches(/^[a-z0-9.-]{1,253}$/i, { each: true })
  hosts: readonly string[] = [];
}

/** @throws SettingsError naming every bad, missing and unknown variable. */
export function readSettings(env: Environment = process.env): Readonly<ProxyGatewaySettings> {
  const named = env['PROXY_GATEWAY_MIHOMO']?.trim();
  return loadSettings(ProxyGatewaySettings, named ? env : { ...env, PROXY_GATEWAY_MIHOMO: inPath('mihomo', env) });
}

/** The first program of that name in absolute folders of PATH; undefined: there is none. */
function inPath(name: string, { PATH = '' }: Environment): string | undefined {
  const folders = PATH.split(delimiter).filter((folder) => folder.startsWith('/'));
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
