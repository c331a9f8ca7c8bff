import type { Reasons } from './fields.js';

const STATE = 'state is not imported';
const CERTIFICATE = 'upload the certificate to the host';

export const NPS_CLIENT_REASONS: Reasons = {
  VerifyKey: 'the client has a new key, which is in the answer',
  WebUserName: 'create a user who owns the client',
  WebPassword: 'create a user who owns the client',
  WebTotpSecret: 'create a user who owns the client',
  ConfigConnAllow: 'the gateway stores what agents serve',
  MaxTunnelNum: 'there is no limit on tunnels per client',
  FlowLimit: 'set traffic_quota of the client or tunnel',
  ...Object.fromEntries(
    ['Addr', 'LocalAddr', 'IsConnect', 'NowConn', 'Version', 'CreateTime', 'LastOnlineTime', 'Rate', 'Mode'].map(
      (name) => [name, STATE],
    ),
  ),
  ExportFlow: 'traffic counters start at zero',
  InletFlow: 'traffic counters start at zero',
  NoStore: STATE,
  NoDisplay: 'users see their own clients',
};

export const NPS_FLOW_REASONS: Reasons = {
  FlowLimit: 'set traffic_quota of the client or tunnel',
  TimeLimit: 'only clients expire: set expire_at of the client',
  ExportFlow: 'traffic counters start at zero',
  InletFlow: 'traffic counters start at zero',
};

const HEALTH: Reasons = Object.fromEntries(
  ['Timeout', 'Interval', 'Type', 'Target'].map((name) => [
    `HealthCheck${name}`,
    'unreachable targets are skipped automatically; set health_check of a host for more',
  ]),
);

export const NPS_TASK_REASONS: Reasons = {
  ...HEALTH,
  Password: 'the tunnel has a new key, which is in the answer',
  Ports: 'a tunnel has one port or one range: create a tunnel for each of them',
  RunStatus: STATE,
  NowConn: STATE,
  NoStore: STATE,
  TargetType: 'proxies carry TCP, and SOCKS5 carries UDP as well',
  IsHttp: 'the protocol of visitors is not guessed',
  Whitelist: 'set target_addr of the tunnel: it says where visitors of a proxy can go',
  WhitelistEnable: 'set target_addr of the tunnel: it says where visitors of a proxy can go',
};

export const NPS_HOST_REASONS: Reasons = {
  ...HEALTH,
  CertFilePath: CERTIFICATE,
  KeyFilePath: CERTIFICATE,
  CertFile: CERTIFICATE,
  KeyFile: CERTIFICATE,
  CertType: CERTIFICATE,
  CertHash: CERTIFICATE,
  PathRewrite: 'paths are not rewritten',
  RedirectURL: 'hosts do not redirect',
  HttpsJustProxy: 'TLS ends at the gateway',
  TlsOffload: 'TLS ends at the gateway',
  AutoCORS: 'set response_headers of the host',
  CompatMode: 'there is only one mode',
  NowConn: STATE,
  NoStore: STATE,
};

/** Go's zero values, for settings that were never set. */
export function isUnset(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0 || value === '') return true;
  if (typeof value === 'string') return value.startsWith('0001-01-01');
  if (Array.isArray(value)) return value.every(isUnset);
  return typeof value === 'object' && Object.values(value).every(isUnset);
}
