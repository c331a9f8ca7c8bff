import type { Reasons } from './fields.js';

const AGENT = 'an agent needs nothing but its key; see the command of its client';
const ADMIN = 'the console and the API of the gateway are in its place';

/** frps.toml: settings that belong to the gateway's environment. */
export const SERVER_REASONS: Reasons = {
  bindAddr: 'set TUNNEL_LISTEN_ADDRESS',
  proxyBindAddr: 'set listen_ip of tunnels',
  bindPort: 'set TUNNEL_AGENT_PORT',
  kcpBindPort: 'agents come over TCP, TLS or WebSockets',
  quicBindPort: 'agents come over TCP, TLS or WebSockets',
  vhostHTTPPort: 'set TUNNEL_HTTP_PORT',
  vhostHTTPSPort: 'set TUNNEL_HTTPS_PORT',
  vhostHTTPTimeout: 'targets have 60 s to begin their answer',
  allowPorts: 'set PORT_RANGE: ports for everybody; administrators may take others',
  maxPortsPerClient: 'there is no limit of ports for each client',
  custom404Page: 'the gateway has a page of its own',
  tcpmuxHTTPConnectPort: 'CONNECT to a name is not served; a tunnel of mode tcp takes a port of its own',
  auth: 'each client has a key of its own',
  webServer: ADMIN,
  enablePrometheus: 'figures are at /metrics',
  log: 'set LOG_LEVEL; lines go to standard output',
  transport: 'connections of agents need no tuning',
  sshTunnelGateway: 'agents do not come over SSH',
  httpPlugins: 'webhooks tell of events; auth policies of type callback ask about visitors',
  udpPacketSize: 'datagrams may have any size',
  natholeAnalysisDataReserveHours: 'nothing is kept about attempts to connect directly',
};

/** frpc.toml: settings that are not about proxies. */
export const CLIENT_REASONS: Reasons = {
  serverAddr: AGENT,
  serverPort: AGENT,
  auth: AGENT,
  transport: AGENT,
  loginFailExit: 'agents try again until they are stopped',
  natHoleStunServer: 'the gateway tells agents where they come from',
  dnsServer: 'agents ask the resolver of their system',
  webServer: ADMIN,
  log: 'see the options of the agent',
  udpPacketSize: 'datagrams may have any size',
  metadatas: 'clients have a name and nothing else',
  includes: 'give the files that are included along with this one',
  store: 'what agents serve is kept by the gateway',
  virtualNet: 'networks are not joined',
  featureGates: 'nothing here is behind a gate',
};

/** Settings of a proxy. */
export const PROXY_REASONS: Reasons = {
  loadBalancer: 'give one tunnel or host several targets, with commas between',
  healthCheck: 'targets that cannot be reached are left out by themselves',
  metadatas: 'tunnels and hosts have a name and nothing else',
  annotations: 'tunnels and hosts have a name and nothing else',
  routeByHTTPUser: 'visitors are told apart by name and location alone',
  allowUsers: 'whoever has the key of the tunnel may come',
  secretKey: 'the tunnel has a new key, which the answer shows',
  multiplexer: 'CONNECT to a name is not served',
  natTraversal: 'direct paths are looked for by themselves',
};

export const TRANSPORT_REASONS: Reasons = {
  useEncryption: 'connections of agents are encrypted',
  useCompression: 'nothing is compressed on the way',
  bandwidthLimit: 'rates are limited for a whole client: set its rate_limit',
  bandwidthLimitMode: 'rates are limited at the gateway',
};

/** [[visitors]]: not configured on the server here. */
export const VISITOR_REASON = 'visitors need no entry: run the agent as a visitor with the key of the tunnel';
