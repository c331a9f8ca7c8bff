import { randomBytes, randomUUID } from 'node:crypto';
import { deriveControlKey } from '@gatehouse/net';
import { waitFor } from '@gatehouse/testing';
import type { PeerAddress, TunnelServerEnvironment } from '../src/index.js';
import { TunnelRig } from './tunnel-rig.js';

const KEY = deriveControlKey(randomBytes(32), 'peers');

/** Servers of one gateway; all end with `close`. */
export class PeerRigs {
  private readonly rigs: TunnelRig[] = [];

  /** One server of a gateway; `like`: another one of it. */
  async server(like?: TunnelRig, options: Partial<TunnelServerEnvironment> = {}): Promise<TunnelRig> {
    const id = randomUUID();
    const peers = {
      id,
      keys: [KEY],
      listen: { host: '127.0.0.1', port: 0 },
      answer: async (method: string, params: unknown) => ({ by: id, method, params }),
    };
    const rig = new TunnelRig({ peers, ...options }, like);
    this.rigs.push(rig);
    await rig.listen();
    return rig;
  }

  async close(): Promise<void> {
    for (const rig of this.rigs.splice(0).reverse()) await rig.close();
  }
}

export async function peerAddressOf(rig: TunnelRig): Promise<PeerAddress> {
  const { peers } = rig.server;
  if (!peers) throw new Error('this server has no peers');
  return { id: peers.id, mesh: await peers.listen(), agents: { host: '127.0.0.1', port: rig.port } };
}

/** Tells all servers of all others, and waits for the links. */
export async function link(...servers: TunnelRig[]): Promise<void> {
  const addresses = await Promise.all(servers.map((rig) => peerAddressOf(rig)));
  for (const { server: one } of servers) one.peers?.apply(addresses);
  const isLinked = ({ server: one }: TunnelRig): boolean =>
    one.peers?.states().filter(({ connected }) => connected).length === servers.length - 1;
  await waitFor(() => servers.every((rig) => isLinked(rig)));
}

/** Agents of other servers that this one knows. */
export function agentsElsewhere({ server }: TunnelRig): number {
  return server.peers?.states().reduce((total, { agents }) => total + agents, 0) ?? 0;
}

/** The same tunnel at all servers, whose agents need to know it as well; returns its port at the first. */
export async function tunnelAt(
  [first, ...others]: TunnelRig[],
  targets: number[],
  { mode = 'tcp', clientId = 1 }: { mode?: 'tcp' | 'udp'; clientId?: number } = {},
): Promise<number> {
  for (const other of others) await other.tunnel(clientId, targets, { mode });
  return (await first?.tunnel(clientId, targets, { mode })) ?? 0;
}
