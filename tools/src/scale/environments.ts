import { isWorker, type Places, type Role, type Shape, type WorkerRole } from './places.js';

/** How long a stopping process is still open: longer than haproxy takes to notice, even on a busy machine. */
export const OPEN_MS = 4_000;
/** How long connections then have to end. */
export const GRACE_MS = 20_000;

export interface FleetSettings {
  places: Places;
  shape: Shape;
  databaseUrl: string;
  redisUrl: string | undefined;
  secretKey: string;
  password: string;
  /** Of the hosts, for services and edges. */
  certificates: string;
}

/** What one copy of a role is started with, besides its home. `databaseUrl`: its own way to the database. */
export function environmentOf(
  role: Role,
  index: number,
  settings: FleetSettings,
  databaseUrl = settings.databaseUrl,
): NodeJS.ProcessEnv {
  const { places, redisUrl, secretKey, password } = settings;
  const process = {
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    GATEHOUSE_SECRET_KEY: secretKey,
    SHUTDOWN_TIMEOUT_MS: String(GRACE_MS),
  };
  // A kernel carries the traffic of strangers: it gets no way to the database.
  if (role === 'kernel') return { ...process, ...kernel(index, places) };
  const service = {
    ...process,
    DATABASE_URL: databaseUrl,
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    GATEHOUSE_ADMIN_PASSWORD: password,
    BIND_ADDRESS: places.address(role, index),
    TRUSTED_PROXIES: places.front,
    API_RATE_LIMIT: '0',
    SHUTDOWN_DELAY_MS: String(OPEN_MS),
  };
  if (isWorker(role)) return { ...service, ...worker(role, index, settings) };
  return { ...service, WORKERS: 'separate', ...server(role, index, settings) };
}

/** What distinguishes a service or an edge. */
function server(role: Exclude<Role, WorkerRole | 'kernel'>, index: number, settings: FleetSettings): NodeJS.ProcessEnv {
  const { places } = settings;
  switch (role) {
    case 'proxy-gateway':
      return proxyGateway(settings);
    case 'resource-sharing':
      return {
        // The members of a rehearsal register from one address.
        SITE_REGISTRATIONS_PER_HOUR: '10000',
        RESOURCE_SHARING_PORT: String(places.ports.resourceSharing),
        RESOURCE_SHARING_PUBLIC_URL: places.url('resource-sharing'),
      };
    case 'tunnel-gateway':
      return { ...tunnels(settings), ...tunnelGateway(places) };
    case 'edge':
      return { ...tunnels(settings), ...edge(index, places) };
  }
}

/** A worker has the settings of its service, and says on a port of its own how it is. */
function worker(role: WorkerRole, index: number, settings: FleetSettings): NodeJS.ProcessEnv {
  const { places } = settings;
  const { front, ports } = places;
  const health = { HEALTH_PORT: String(places.workerHealth(role, index)) };
  switch (role) {
    case 'proxy-gateway worker':
      return { ...health, PROXY_KERNEL_PORT: String(ports.kernel), PROXY_KERNEL_HOST: front };
    case 'resource-sharing worker':
      return { ...health, RESOURCE_SHARING_PUBLIC_URL: places.url('resource-sharing') };
    case 'tunnel-gateway worker':
      return { ...health, ...tunnels(settings), ...tunnelGateway(places) };
  }
}

function kernel(index: number, places: Places): NodeJS.ProcessEnv {
  const address = places.address('kernel', index);
  return {
    PROXY_KERNEL_NAME: `kernel-${index}`,
    PROXY_KERNEL_CHANNEL: `${address}:${places.ports.kernelChannel}`,
    PROXY_KERNEL_LISTEN_ADDRESS: address,
    PROXY_KERNEL_HEALTH_ADDRESS: address,
    PROXY_KERNEL_HEALTH_PORT: String(places.ports.kernelHealth),
    PROXY_KERNEL_DRAIN_DELAY_MS: String(OPEN_MS),
  };
}

function proxyGateway({ places, shape }: FleetSettings): NodeJS.ProcessEnv {
  const { ports, front } = places;
  return {
    PROXY_GATEWAY_PORT: String(ports.proxyGateway),
    PROXY_KERNEL: 'separate',
    PROXY_KERNEL_CHANNEL: places
      .addresses('kernel', shape)
      .map((address) => `${address}:${ports.kernelChannel}`)
      .join(','),
    PROXY_KERNEL_PORT: String(ports.kernel),
    PROXY_KERNEL_HOST: front,
  };
}

const tunnels = ({ places: { ports, portRange, front }, certificates }: FleetSettings): NodeJS.ProcessEnv => ({
  CERT_DIR: certificates,
  TUNNEL_AGENT_PORT: String(ports.agents),
  TUNNEL_HTTP_PORT: String(ports.http),
  TUNNEL_HTTPS_PORT: String(ports.https),
  TUNNEL_PUBLIC_ADDRESS: `${front}:${ports.agents}`,
  PORT_RANGE: portRange,
});

/** A service asks any edge, which answers for all. */
const tunnelGateway = (places: Places): NodeJS.ProcessEnv => ({
  TUNNEL_GATEWAY_PORT: String(places.ports.tunnelGateway),
  TUNNEL_GATEWAY_PUBLIC_URL: places.url('tunnel-gateway'),
  TUNNEL_EDGE: 'separate',
  TUNNEL_EDGE_CHANNEL: `${places.front}:${places.ports.edgeChannel}`,
});

/** As the gateway lists it. */
export const edgeName = (index: number): string => `edge-${index}`;

function edge(index: number, places: Places): NodeJS.ProcessEnv {
  const address = places.address('edge', index);
  return {
    TUNNEL_EDGE_NAME: edgeName(index),
    TUNNEL_EDGE_CHANNEL: `${address}:${places.ports.edgeChannel}`,
    TUNNEL_EDGE_HEALTH_ADDRESS: address,
    TUNNEL_EDGE_HEALTH_PORT: String(places.ports.edgeHealth),
    TUNNEL_EDGE_TUNNEL_ADDRESS: address,
    TUNNEL_EDGE_PEER_PORT: String(places.ports.peers),
    TUNNEL_EDGE_PUBLIC_HOST: places.agentWay(index),
    TUNNEL_LISTEN_ADDRESS: address,
  };
}

/** The same for haproxy: deploy/haproxy/haproxy.cfg has the names. */
export function balancerEnvironment({ ports, portRange, front }: Places, nameServer: string): Record<string, string> {
  return {
    MAX_CONNECTIONS: '2000',
    LISTEN_ADDRESS: front,
    CHANNEL_ADDRESS: front,
    NAME_SERVER: nameServer,
    PROXY_GATEWAY_PORT: String(ports.proxyGateway),
    PROXY_GATEWAY_COPY_PORT: String(ports.proxyGateway),
    RESOURCE_SHARING_PORT: String(ports.resourceSharing),
    RESOURCE_SHARING_COPY_PORT: String(ports.resourceSharing),
    TUNNEL_GATEWAY_PORT: String(ports.tunnelGateway),
    TUNNEL_GATEWAY_COPY_PORT: String(ports.tunnelGateway),
    PROXY_KERNEL_PORT: String(ports.kernel),
    PROXY_KERNEL_HEALTH_PORT: String(ports.kernelHealth),
    TUNNEL_AGENT_PORT: String(ports.agents),
    TUNNEL_AGENT_COPY_PORT: String(ports.agentWays),
    TUNNEL_HTTP_PORT: String(ports.http),
    TUNNEL_HTTPS_PORT: String(ports.https),
    TUNNEL_EDGE_CHANNEL_PORT: String(ports.edgeChannel),
    TUNNEL_EDGE_HEALTH_PORT: String(ports.edgeHealth),
    PORT_RANGE: portRange,
  };
}
