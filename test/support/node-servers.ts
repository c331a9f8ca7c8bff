import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '@gatehouse/net';
import type { NodeTls, NodeTransport, ProxyNode } from '@gatehouse/contracts';
import type { Programs } from './processes.js';
import { CERTIFICATE, FINGERPRINT, PRIVATE_KEY } from './tls-identity.js';

export const USER_ID = 'b831381d-6324-4d53-ad4f-8cda48b30811';
export const PASSWORD = 'a-password-for-tests';

/** One inbound of a v2ray or xray and the node that a client needs for it. */
export interface ServedNode {
  name: string;
  protocol: 'vmess' | 'vless' | 'trojan';
  /** `streamSettings` without its security. */
  stream: Record<string, unknown>;
  tls: boolean;
  transport?: NodeTransport;
  /** More of the node: a cipher, another user id. */
  node?: Record<string, unknown>;
  /** Id in the server's own configuration, where it is not `USER_ID`. */
  serverId?: string;
}

const TLS: NodeTls = { sni: 'proxy.test', fingerprint: FINGERPRINT };

/** Starts one v2ray or xray that serves all of them; the nodes in the same order. */
export async function startInbounds(
  programs: Programs,
  binary: string,
  served: readonly ServedNode[],
): Promise<ProxyNode[]> {
  const folder = programs.folder('gatehouse-inbounds-');
  const ports = await Promise.all(served.map(() => freePort()));
  const config = path.join(folder, 'config.json');
  const xray = path.basename(binary) === 'xray';
  // The last inbound to be opened is the one that is waited for.
  await programs.start(binary, (port) => {
    const last = { listen: '127.0.0.1', port, protocol: 'socks', settings: { auth: 'noauth' } };
    const inbounds = [...served.map((one, index) => inboundOf(one, ports[index]!)), last];
    const outbounds = [{ protocol: 'freedom', settings: xray ? { finalRules: [{ action: 'allow' }] } : {} }];
    writeFileSync(config, JSON.stringify({ log: { loglevel: 'warning' }, inbounds, outbounds }));
    return xray ? ['run', '-c', config] : ['-config', config];
  });
  return served.map((one, index) => nodeOf(one, ports[index]!));
}

/** Starts Debian's trojan; the node for it. */
export async function startTrojan(programs: Programs, binary: string, deadPort: number): Promise<ProxyNode> {
  const folder = programs.folder('gatehouse-trojan-');
  writeFileSync(path.join(folder, 'cert.pem'), CERTIFICATE);
  writeFileSync(path.join(folder, 'key.pem'), PRIVATE_KEY, { mode: 0o600 });
  const config = path.join(folder, 'config.json');
  const port = await programs.start(binary, (candidate) => {
    const ssl = { cert: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem'), alpn: ['http/1.1'] };
    const listen = { local_addr: '127.0.0.1', local_port: candidate };
    const fallback = { remote_addr: '127.0.0.1', remote_port: deadPort };
    const settings = { run_type: 'server', ...listen, ...fallback, password: [PASSWORD], log_level: 3, ssl };
    writeFileSync(config, JSON.stringify(settings));
    return ['-c', config];
  });
  return { type: 'trojan', name: 'trojan', server: '127.0.0.1', port, password: PASSWORD, tls: TLS };
}

function inboundOf({ protocol, stream, tls, serverId = USER_ID }: ServedNode, port: number): object {
  const clients = protocol === 'trojan' ? [{ password: PASSWORD }] : [{ id: serverId, alterId: 0 }];
  const settings = protocol === 'vless' ? { clients, decryption: 'none' } : { clients };
  const certificate = { certificate: CERTIFICATE.split('\n'), key: PRIVATE_KEY.split('\n') };
  const security = tls ? { security: 'tls', tlsSettings: { certificates: [certificate] } } : {};
  return { listen: '127.0.0.1', port, protocol, settings, streamSettings: { ...stream, ...security } };
}

function nodeOf({ name, protocol, tls, transport, node }: ServedNode, port: number): ProxyNode {
  const common = {
    name,
    server: '127.0.0.1',
    port,
    ...(tls ? { tls: TLS } : {}),
    ...(transport ? { transport } : {}),
  };
  const own = {
    vmess: { type: 'vmess', uuid: USER_ID, alterId: 0, cipher: 'auto' },
    vless: { type: 'vless', uuid: USER_ID },
    trojan: { type: 'trojan', password: PASSWORD },
  }[protocol];
  return { ...common, ...own, ...node } as ProxyNode;
}
