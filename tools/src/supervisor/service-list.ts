import { localized } from '../../bootstrap/language.mjs';

/** A service of the platform as `npm start` runs it. */
export interface ServiceEntry {
  name: string;
  /** Its program as it is compiled, relative to the repository. */
  main: string;
  /** The same with all that it loads in a few files, which `npm start` runs. */
  bundle: string;
  portVariable: string;
  defaultPort: number;
  /** Sets a port for metrics alone. Not set: there is none. */
  metricsPortVariable: string;
  about: string;
}

export const SERVICES: readonly ServiceEntry[] = [
  {
    name: 'proxy-gateway',
    main: 'apps/proxy-gateway/dist/main.js',
    bundle: 'apps/proxy-gateway/bundle/main.js',
    portVariable: 'PROXY_GATEWAY_PORT',
    defaultPort: 8080,
    metricsPortVariable: 'PROXY_GATEWAY_METRICS_PORT',
    about: localized('console of the forward proxy', '代理控制台'),
  },
  {
    name: 'resource-sharing',
    main: 'apps/resource-sharing/dist/main.js',
    bundle: 'apps/resource-sharing/bundle/main.js',
    portVariable: 'RESOURCE_SHARING_PORT',
    defaultPort: 8081,
    metricsPortVariable: 'RESOURCE_SHARING_METRICS_PORT',
    about: localized('open API for applications', '资源共享站点与开放 API'),
  },
  {
    name: 'tunnel-gateway',
    main: 'apps/tunnel-gateway/dist/main.js',
    bundle: 'apps/tunnel-gateway/bundle/main.js',
    portVariable: 'TUNNEL_GATEWAY_PORT',
    defaultPort: 8082,
    metricsPortVariable: 'TUNNEL_GATEWAY_METRICS_PORT',
    about: localized('console of the tunnels', '隧道控制台'),
  },
];

/** The proxy's own port: opened by the kernel on the loopback. */
export const KERNEL_PORT = { variable: 'PROXY_KERNEL_PORT', defaultPort: 7890 } as const;

/** Ports that tunnel-gateway opens for agents and visitors, beside those of its tunnels. */
export const TUNNEL_PORTS = [
  {
    variable: 'TUNNEL_AGENT_PORT',
    defaultPort: 8024,
    name: localized('tunnel agents', '隧道客户端'),
    about: localized('where agents connect', '客户端连接地址'),
  },
  {
    variable: 'TUNNEL_HTTP_PORT',
    defaultPort: 8880,
    name: localized('tunnel hosts', '隧道主机'),
    about: localized('domains of tunnels, http', '隧道域名，http'),
  },
  {
    variable: 'TUNNEL_HTTPS_PORT',
    defaultPort: 8443,
    name: localized('tunnel hosts', '隧道主机'),
    about: localized('domains of tunnels, https', '隧道域名，https'),
  },
] as const;

/** The variable with the address of a port. */
export function addressVariable(
  portVariable: string,
): 'PROXY_KERNEL_ADDRESS' | 'TUNNEL_LISTEN_ADDRESS' | 'METRICS_ADDRESS' | 'BIND_ADDRESS' {
  if (portVariable === KERNEL_PORT.variable) return 'PROXY_KERNEL_ADDRESS';
  if (SERVICES.some(({ metricsPortVariable }) => metricsPortVariable === portVariable)) return 'METRICS_ADDRESS';
  const isTunnel = TUNNEL_PORTS.some(({ variable }) => variable === portVariable);
  return isTunnel ? 'TUNNEL_LISTEN_ADDRESS' : 'BIND_ADDRESS';
}
