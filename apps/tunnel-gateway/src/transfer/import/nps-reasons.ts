import type { Reasons } from './fields.js';

const STATE = 'how it was at that moment is not carried over';
const CERTIFICATE = 'upload the certificate to the host';

export const NPS_CLIENT_REASONS: Reasons = {
  VerifyKey: 'the client has a new key, which the answer shows',
  WebUserName: 'make a user, and give the client to them',
  WebPassword: 'make a user, and give the client to them',
  WebTotpSecret: 'make a user, and give the client to them',
  ConfigConnAllow: 'what agents serve is kept by the gateway',
  MaxTunnelNum: 'there is no limit of tunnels for each client',
  FlowLimit: 'there is no limit of traffic',
  ...Object.fromEntries(
    ['Addr', 'LocalAddr', 'IsConnect', 'NowConn', 'Version', 'CreateTime', 'LastOnlineTime', 'Rate', 'Mode'].map(
      (name) => [name, STATE],
    ),
  ),
  ExportFlow: 'traffic is counted anew',
  InletFlow: 'traffic is counted anew',
  NoStore: STATE,
  NoDisplay: 'everybody sees their own clients',
};

export const NPS_FLOW_REASONS: Reasons = {
  FlowLimit: 'there is no limit of traffic',
  TimeLimit: 'only clients have a time: set expire_at of the client',
  ExportFlow: 'traffic is counted anew',
  InletFlow: 'traffic is counted anew',
};

const HEALTH: Reasons = Object.fromEntries(
  ['Timeout', 'Interval', 'Type', 'Target'].map((name) => [
    `HealthCheck${name}`,
    'targets that cannot be reached are left out by themselves',
  ]),
);

export const NPS_TASK_REASONS: Reasons = {
  ...HEALTH,
  Password: 'the tunnel has a new key, which the answer shows',
  Ports: 'a tunnel has one port: import one for each',
  RunStatus: STATE,
  NowConn: STATE,
  NoStore: STATE,
  TargetType: 'proxies carry TCP and, of SOCKS 5, datagrams',
  IsHttp: 'nothing about visitors is guessed',
  Whitelist: 'set target_addr of the tunnel, which says where visitors of a proxy may go',
  WhitelistEnable: 'set target_addr of the tunnel, which says where visitors of a proxy may go',
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
  RedirectURL: 'hosts lead to targets, not elsewhere',
  HttpsJustProxy: 'TLS ends at the gateway',
  TlsOffload: 'TLS ends at the gateway',
  AutoCORS: 'set response_headers of the host',
  CompatMode: 'there is one mode',
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
