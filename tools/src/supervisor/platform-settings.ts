import { resolve } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN } from '../../bootstrap/layout.mjs';
import { readBackupSettings, type BackupSettings } from '../backups/backup-settings.js';
import { KERNEL_PORT, SERVICES, TUNNEL_PORTS } from './service-list.js';
import { localized } from '../../bootstrap/language.mjs';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the supervisor itself has to know; everything else is each service's own business. */
export interface PlatformSettings {
  home: string;
  bindAddress: string;
  kernelAddress: string;
  tunnelAddress: string;
  metricsAddress: string;
  /** By variable name. 0: any free port, chosen by the service. */
  ports: Readonly<Record<string, number>>;
  databaseUrl: string | undefined;
  /** 0: any free port. */
  postgresPort: number;
  /** The schedule of backups, if there is one. */
  backups: BackupSettings | undefined;
}

export const POSTGRES_PORT_VARIABLE = 'GATEHOUSE_POSTGRES_PORT';

function readPort(env: Environment, variable: string, fallback: number, problems: string[]): number {
  const text = env[variable]?.trim() ?? '';
  if (text === '') return fallback;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  problems.push(
    localized(`${variable}=${text} is not a port (0 to 65535).`, `${variable}=${text} 不是端口（0 到 65535）。`),
  );
  return fallback;
}

function findClashes(ports: Readonly<Record<string, number>>, problems: string[]): void {
  const names = new Map<number, string>();
  for (const [variable, port] of Object.entries(ports)) {
    const other = names.get(port);
    if (port !== 0 && other !== undefined) {
      problems.push(
        localized(`${other} and ${variable} both say ${port}.`, `${other} 与 ${variable} 都设为 ${port}。`),
      );
    }
    names.set(port, variable);
  }
}

/** The folder of this platform: GATEHOUSE_HOME (relative to the working directory), else `.gatehouse` of the repository. */
export function platformHome(env: Environment): string {
  const home = env['GATEHOUSE_HOME']?.trim();
  return home ? resolve(home) : OWN;
}

/** Reads the environment; everything that is wrong is listed in one failure. */
export function readPlatformSettings(env: Environment): PlatformSettings {
  const problems: string[] = [];
  const ports: Record<string, number> = {};
  for (const { portVariable, defaultPort, metricsPortVariable } of SERVICES) {
    ports[portVariable] = readPort(env, portVariable, defaultPort, problems);
    if (env[metricsPortVariable]?.trim()) {
      ports[metricsPortVariable] = readPort(env, metricsPortVariable, 0, problems);
    }
  }
  for (const { variable, defaultPort } of TUNNEL_PORTS)
    ports[variable] = readPort(env, variable, defaultPort, problems);
  ports[KERNEL_PORT.variable] = readPort(env, KERNEL_PORT.variable, KERNEL_PORT.defaultPort, problems);
  const postgresPort = readPort(env, POSTGRES_PORT_VARIABLE, 0, problems);
  findClashes({ ...ports, [POSTGRES_PORT_VARIABLE]: postgresPort }, problems);
  const databaseUrl = env['DATABASE_URL']?.trim() || undefined;
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\/./.test(databaseUrl)) {
    problems.push(localized('DATABASE_URL is not a postgres:// URL.', 'DATABASE_URL 不是 postgres:// 网址。'));
  }
  const backups = readBackupSettings(env, problems);
  if (problems.length > 0)
    throw new PlainFailure(localized('the environment is not usable:', '环境变量设置有误：'), { advice: problems });
  return {
    home: platformHome(env),
    bindAddress: env['BIND_ADDRESS']?.trim() || '127.0.0.1',
    kernelAddress: env['PROXY_KERNEL_ADDRESS']?.trim() || '127.0.0.1',
    metricsAddress: env['METRICS_ADDRESS']?.trim() || '127.0.0.1',
    tunnelAddress: env['TUNNEL_LISTEN_ADDRESS']?.trim() || '0.0.0.0',
    ports,
    databaseUrl,
    postgresPort,
    backups,
  };
}
