import { join } from 'node:path';
import { localControlEndpoint } from '@gatehouse/net';
import { BACKUP_VARIABLES } from '../backups/backup-settings.js';
import { POSTGRES_PORT_VARIABLE, type PlatformSettings } from './platform-settings.js';
import { SERVICES } from './service-list.js';

// Meant for the launch scripts; a service would report them as unknown.
const NOT_FOR_SERVICES = [POSTGRES_PORT_VARIABLE, 'GATEHOUSE_NODE', 'GATEHOUSE_PEERS_BIN', ...BACKUP_VARIABLES];

/**
 * How glibc's allocator gives memory back. Left to itself it learns from a password hash (19 MiB each) to serve blocks
 * of that size from the arenas of Node's threads, and keeps 20 MiB in each of them for good.
 */
const ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: String(1024 * 1024), MALLOC_ARENA_MAX: '2' };

/** The environment of a service under `npm start`: what the person set, and what the supervisor decides. */
export function serviceEnvironment(
  env: NodeJS.ProcessEnv,
  { home, bindAddress, ports }: Pick<PlatformSettings, 'home' | 'bindAddress' | 'ports'>,
  databaseUrl: string,
): NodeJS.ProcessEnv {
  const own: NodeJS.ProcessEnv = {
    ...ALLOCATOR,
    ...env,
    ...Object.fromEntries(Object.entries(ports).map(([variable, port]) => [variable, String(port)])),
    NODE_ENV: env['NODE_ENV'] ?? 'production',
    GATEHOUSE_HOME: home,
    DATABASE_URL: databaseUrl,
    BIND_ADDRESS: bindAddress,
    AUTO_MIGRATE: env['AUTO_MIGRATE'] ?? 'true',
    WORKERS: env['WORKERS'] ?? 'inline',
    PROXY_CLIENTS_CHANNEL: clientsChannel(env, home),
    PROXY_KERNEL_OWN_ENDPOINTS: ownEndpoints(env, ports),
  };
  for (const name of Object.keys(own)) {
    if (NOT_FOR_SERVICES.includes(name) || name.startsWith('npm_')) delete own[name];
  }
  return own;
}

/** Where proxy-gateway says to the other services who comes through the proxy: a socket that only this user may open. */
function clientsChannel(env: NodeJS.ProcessEnv, home: string): string {
  // A hash of the path may be the name of the socket, and the edge has one of the home itself.
  return env['PROXY_CLIENTS_CHANNEL']?.trim() || localControlEndpoint(join(home, 'proxy-gateway'), 'clients').path;
}

/** The other services' ports, which the proxy must not lead to; it knows its own, the database and Redis. */
function ownEndpoints(env: NodeJS.ProcessEnv, ports: PlatformSettings['ports']): string {
  const said = (env['PROXY_KERNEL_OWN_ENDPOINTS'] ?? '').split(',').filter((endpoint) => endpoint.trim() !== '');
  const services = SERVICES.flatMap(({ portVariable, metricsPortVariable }) => [portVariable, metricsPortVariable])
    .map((variable) => ports[variable] ?? 0)
    .filter((port) => port !== 0);
  return [...said, ...services.map((port) => `:${port}`)].join(',');
}
