import { expect, it } from 'vitest';
import type { ConnectionMetadata, RouteDecision, Wishes } from '../interfaces/index.js';
import { NodeLabels } from './node-labels.js';
import { NodeSessions } from './node-sessions.js';
import { wishedWay, type WishParts } from './wished-way.js';

const node = { type: 'socks5', name: 'x', server: 'x.test', port: 1 } as const;
const decided: RouteDecision = { rule: null, target: 'DIRECT', chain: [], outbound: '', resolvedIps: [] };

/** Two nodes in Japan, of which only `n1` carries UDP. */
function world(more: { dead?: string[]; waiting?: string[] } = {}): WishParts {
  return {
    groups: {
      supportsUdp: (tag) => tag === 'n1',
      leaf: (tag) => tag,
      nodesBelow: () => null,
      useChain: (tag) => [tag],
    },
    labels: new NodeLabels(['n1', 'n2'].map((tag) => ({ tag, node, country: 'jp', names: [tag] }))),
    health: {
      of: (_testUrl, tag) => ({ alive: more.dead?.includes(tag) !== true }),
      claimTrial: (tag) => more.waiting?.includes(tag) === true,
    },
    sessions: new NodeSessions(() => 0),
  };
}

const flow = (wishes: Wishes, network: 'tcp' | 'udp' = 'udp'): ConnectionMetadata =>
  ({ network, inboundUser: 'ann', wishes }) as ConnectionMetadata;

it('takes a node with UDP for datagrams, and refuses those of a session whose node has none', () => {
  const parts = world();
  for (let count = 0; count < 20; count += 1) {
    expect(wishedWay(flow({ country: 'jp' }), decided, parts)?.chain).toEqual(['n1']);
  }
  expect(() => wishedWay(flow({ node: 'n2' }), decided, parts)).toThrow('no such node carries UDP: node-n2');
  const session = { country: 'jp', session: 'a' };
  parts.sessions.keep({ user: 'ann', name: 'country-jp-session-a ' }, 'n2', 1000);
  expect(wishedWay(flow(session, 'tcp'), decided, parts)?.chain).toEqual(['n2']);
  expect(() => wishedWay(flow(session), decided, parts)).toThrow('the node of this session carries no UDP');
});

it('lets one flow try a node that failed, if no other is alive', () => {
  const dead = ['n1', 'n2'];
  expect(wishedWay(flow({ country: 'jp' }, 'tcp'), decided, world({ dead, waiting: ['n2'] }))?.chain).toEqual(['n2']);
  expect(() => wishedWay(flow({ country: 'jp' }, 'tcp'), decided, world({ dead }))).toThrow('no such node is alive');
});
