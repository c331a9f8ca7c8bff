import type { Reasons } from './fields.js';

const AGENT = 'agents need only their key; the client has the command';
const ADMIN = 'replaced by the console and the API of the gateway';

/** frps.toml: settings that belong to the gateway's environment. */
export const SERVER_REASONS: Reasons = {
  bindAddr: 'set TUNNEL_LISTEN_ADDRESS',
  proxyBindAddr: 'set listen_ip of the tunnels',
  bindPort: 'set TUNNEL_AGENT_PORT',
  kcpBindPort: 'agents connect over TCP, TLS or WebSockets',
  quicBindPort: 'agents connect over TCP, TLS or WebSockets',
  vhostHTTPPort: 'set TUNNEL_HTTP_PORT',
  vhostHTTPSPort: 'set TUNNEL_HTTPS_PORT',
  vhostHTTPTimeout: 'a target has 60 s to start its answer',
  allowPorts: 'set PORT_RANGE; administrators may use other ports, too',
  maxPortsPerClient: 'there is no limit on ports per client',
  custom404Page: 'the gateway has its own page',
  tcpmuxHTTPConnectPort: 'CONNECT to a name is not supported; use a tunnel of mode tcp, which has its own port',
  auth: 'each client has its own key',
  webServer: ADMIN,
  enablePrometheus: 'metrics are at /metrics',
  log: 'set LOG_LEVEL; the log goes to standard output',
  transport: 'connections of agents need no tuning',
  sshTunnelGateway: 'agents do not connect over SSH',
  httpPlugins: 'use webhooks for events, and auth policies of type callback for visitors',
  udpPacketSize: 'datagrams can have any size',
  natholeAnalysisDataReserveHours: 'attempts to connect directly are not recorded',
};

/** frpc.toml: settings that are not about proxies. */
export const CLIENT_REASONS: Reasons = {
  serverAddr: AGENT,
  serverPort: AGENT,
  auth: AGENT,
  transport: AGENT,
  loginFailExit: 'agents retry until they are stopped',
  natHoleStunServer: 'the gateway tells agents their public address',
  dnsServer: "agents use their system's resolver",
  webServer: ADMIN,
  log: 'see the options of the agent',
  udpPacketSize: 'datagrams can have any size',
  metadatas: 'clients have only a name',
  includes: 'add the included files to the import',
  store: 'the gateway stores what agents serve',
  virtualNet: 'networks are not joined',
  featureGates: 'there are no feature gates',
};

/** Settings of a proxy. */
export const PROXY_REASONS: Reasons = {
  loadBalancer: 'give one tunnel or host several targets, separated by commas',
  healthCheck: 'unreachable targets are skipped automatically; set health_check of a host for more',
  metadatas: 'tunnels and hosts have only a name',
  annotations: 'tunnels and hosts have only a name',
  routeByHTTPUser: 'requests are routed by name and path only',
  allowUsers: 'everyone with the key of the tunnel can connect',
  secretKey: 'the tunnel has a new key, which is in the answer',
  multiplexer: 'CONNECT to a name is not supported',
  natTraversal: 'direct paths are used automatically',
};

export const TRANSPORT_REASONS: Reasons = {
  useEncryption: 'connections of agents are encrypted',
  useCompression: 'data is not compressed on the way',
  bandwidthLimit: 'rates are limited per client and tunnel: set rate_limit of the client',
  bandwidthLimitMode: 'rates are limited at the gateway',
};

/** [[visitors]]: not configured on the server here. */
export const VISITOR_REASON = 'visitors need no entry: run the agent as a visitor with the key of the tunnel';
