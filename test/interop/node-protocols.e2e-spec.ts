import type { NodeTransport, ProxyNode } from '@gatehouse/contracts';
import { findPeer, reservePort } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, type TestContext } from 'vitest';
import { itCarries } from '../support/carrying.js';
import { NodeRig } from '../support/node-rig.js';
import { startInbounds, startTrojan, type ServedNode } from '../support/node-servers.js';
import { optionalPeer, requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';

const PROTOCOLS = ['vmess', 'vless', 'trojan'] as const;
const WS: NodeTransport = { type: 'ws', path: '/tunnel?x=1', headers: { Host: 'proxy.test' } };
const H2: NodeTransport = { type: 'h2', path: '/h2', hosts: ['proxy.test'] };
const GRPC: NodeTransport = { type: 'grpc', serviceName: 'tunnel service' };
const UPGRADE: NodeTransport = { type: 'httpupgrade', path: '/up', headers: { Host: 'proxy.test' } };
const ws = { network: 'ws', wsSettings: { path: '/tunnel' } };
const h2 = { network: 'http', httpSettings: { path: '/h2', host: ['proxy.test'] } };
const grpc = { network: 'grpc', grpcSettings: { serviceName: 'tunnel service' } };
const upgrade = { network: 'httpupgrade', httpupgradeSettings: { path: '/up' } };

interface Carried {
  name: string;
  stream: Record<string, unknown>;
  transport?: NodeTransport;
}
const TCP: Carried = { name: 'tcp', stream: { network: 'tcp' } };

/** A protocol through a transport, with TLS and (where the protocol allows) without. */
function matrix(carried: readonly Carried[]): ServedNode[] {
  return PROTOCOLS.flatMap((protocol) =>
    carried.flatMap(({ name, ...rest }) =>
      // Trojan has no protection of its own.
      (protocol === 'trojan' ? [true] : [false, true]).map((tls) => ({
        name: `${protocol} over ${name}${tls ? ' and TLS' : ''}`,
        protocol,
        tls,
        ...rest,
      })),
    ),
  );
}

const vmess = (cipher: string): ServedNode => ({
  name: `vmess with ${cipher}`,
  protocol: 'vmess',
  tls: false,
  stream: { network: 'tcp' },
  node: { cipher },
});

const V2RAY: ServedNode[] = [
  ...matrix([TCP, { name: 'WebSocket', stream: ws, transport: WS }, { name: 'HTTP/2', stream: h2, transport: H2 }]),
  ...['aes-128-gcm', 'chacha20-poly1305', 'none', 'zero'].map(vmess),
  {
    name: 'vmess disguised as HTTP',
    protocol: 'vmess',
    tls: false,
    stream: { network: 'tcp', tcpSettings: { header: { type: 'http', request: { path: ['/a', '/b'] } } } },
    transport: { type: 'http', path: ['/a', '/b'], headers: { Host: ['a.test', 'b.test'] } },
  },
];
const early: NodeTransport = {
  ...WS,
  path: '/tunnel',
  maxEarlyData: 2048,
  earlyDataHeaderName: 'Sec-WebSocket-Protocol',
};
const XRAY: ServedNode[] = [
  ...matrix([
    TCP,
    { name: 'WebSocket', stream: ws, transport: WS },
    { name: 'WebSocket with early data', stream: ws, transport: early },
    { name: 'gRPC', stream: grpc, transport: GRPC },
    { name: 'an HTTP upgrade', stream: upgrade, transport: UPGRADE },
  ]),
  ...['aes-128-gcm', 'chacha20-poly1305', 'none', 'zero'].map(vmess),
  {
    name: 'vless with a name for an id',
    protocol: 'vless',
    tls: false,
    stream: TCP.stream,
    serverId: 'example',
    node: { uuid: 'example' },
  },
  {
    name: 'gRPC at a path of its own',
    protocol: 'vless',
    tls: true,
    stream: { network: 'grpc', grpcSettings: { serviceName: '/my/path/up|upMulti' } },
    transport: { type: 'grpc', serviceName: '/my/path/up|upMulti' },
  },
];

const programs = new Programs();
const nodes = new Map<string, ProxyNode>();
let rig: NodeRig | undefined;

beforeAll(async () => {
  await serve('v2ray', V2RAY);
  await serve('xray', XRAY);
  const trojan = findPeer('trojan');
  if (trojan) nodes.set('trojan/trojan', await startTrojan(programs, trojan, await reservePort()));
  if (nodes.size > 0) rig = await NodeRig.start(nodes);
});

afterAll(async () => {
  await rig?.close();
  await programs.stopAll();
});

/** Missing programs are each test's own to report. */
async function serve(program: string, served: ServedNode[]): Promise<void> {
  const binary = findPeer(program);
  if (!binary) return;
  const made = await startInbounds(programs, binary, served);
  for (const [index, node] of made.entries()) nodes.set(`${program}/${served[index]!.name}`, node);
}

function use(context: TestContext, program: string, name: string): NodeRig {
  if (program === 'xray') optionalPeer(context, program);
  else requirePeer(context, program);
  if (!rig) throw new Error('the servers were not started');
  rig.use(`${program}/${name}`);
  return rig;
}

const subjects = [
  ...V2RAY.map(({ name }) => ({ program: 'v2ray', name })),
  ...XRAY.map(({ name }) => ({ program: 'xray', name })),
  { program: 'trojan', name: 'trojan' },
];

describe.each(subjects)('$name, by a real $program', ({ program, name }) => {
  itCarries({ use: (context) => use(context, program, name), udp: true });
});
