/**
 * The agent's file on the real versions of Node that it is promised to run with. The oldest carries every mode here; `npm run
 * runtimes` has every version carry every mode in every way.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { findPeer } from '@gatehouse/testing';
import { AgentScene, type AgentWay } from '../support/agent-modes.js';
import { requirePeer } from '../support/peers.js';

const EVERYTHING = process.env['GATEHOUSE_TEST_RUNTIMES'] === 'all';
const OLDEST = 'node-20.19.0';
const LATER = ['node-20', 'node-22', 'node-24', 'node-26'];
const SEALED: AgentWay = { encrypt: true, transport: 'raw' };
const PLAIN: AgentWay = { encrypt: false, transport: 'raw' };
const SEALED_WEBSOCKET: AgentWay = { encrypt: true, transport: 'websocket' };
const PLAIN_WEBSOCKET: AgentWay = { encrypt: false, transport: 'websocket' };

const nameOf = ({ encrypt, transport }: AgentWay): string =>
  `${encrypt ? 'sealed' : 'plain'} channels, ${transport === 'raw' ? 'the port for agents' : 'a WebSocket'}`;

type Carried = [name: string, carry: (scene: AgentScene) => Promise<void>];

const TCP: Carried = ['a tunnel of mode tcp', (scene) => scene.tcp()];
const HOST: Carried = ['a host', (scene) => scene.host()];
const P2P: Carried = ['a tunnel of mode p2p, visited with this Node', (scene) => scene.visit('p2p')];
const ALL: Carried[] = [
  TCP,
  HOST,
  P2P,
  ['a tunnel of mode secret, visited with this Node', (scene) => scene.visit('secret')],
  ['a tunnel of mode udp', (scene) => scene.udp()],
  ['CONNECT to a tunnel of mode http_proxy', (scene) => scene.httpProxy()],
  ['requests to a tunnel of mode http_proxy', (scene) => scene.httpProxyRequests()],
  ['a tunnel of mode socks5', (scene) => scene.socks()],
  ['datagrams of a tunnel of mode socks5', (scene) => scene.socksUdp()],
  ['CONNECT to a tunnel of mode mix_proxy', (scene) => scene.httpProxy('mix_proxy')],
  ['SOCKS5 of a tunnel of mode mix_proxy', (scene) => scene.socks('mix_proxy')],
  ['a tunnel of mode file', (scene) => scene.file()],
  ['a host, after an upgrade to a WebSocket', (scene) => scene.upgrade()],
];

function itCarries(program: string, way: AgentWay, carried: Carried[]): void {
  describe(`gatehouse-agent on ${program}, ${nameOf(way)}`, { timeout: 120_000 }, () => {
    let scene: AgentScene | undefined;
    beforeAll(async () => {
      const node = findPeer(program);
      scene = node === undefined ? undefined : await AgentScene.start(node, way);
    });
    afterAll(() => scene?.close());

    for (const [name, carry] of carried) {
      it(`carries 50 MB in each direction: ${name}`, async (context) => {
        requirePeer(context, program);
        await carry(scene as AgentScene);
      });
    }
  });
}

if (EVERYTHING) {
  const ways = [SEALED, PLAIN, SEALED_WEBSOCKET, PLAIN_WEBSOCKET];
  for (const program of [OLDEST, ...LATER]) for (const way of ways) itCarries(program, way, ALL);
} else {
  itCarries(OLDEST, SEALED, ALL);
  for (const way of [PLAIN, SEALED_WEBSOCKET]) itCarries(OLDEST, way, [TCP, HOST, P2P]);
  for (const program of LATER) itCarries(program, SEALED, [TCP]);
}
