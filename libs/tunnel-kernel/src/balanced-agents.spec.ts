import { connect } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { link, PeerRigs, tunnelAt } from '../test/peer-rig.js';
import type { TunnelRig } from '../test/tunnel-rig.js';

const rigs = new PeerRigs();
afterEach(() => rigs.close());

interface Balanced {
  /** The agent is connected to the first. */
  edges: [TunnelRig, TunnelRig, TunnelRig];
  /** Connections that the balancer has passed on to each. */
  passed: number[];
  /** The tunnel at the first. */
  port: number;
}

/** Three servers behind a load balancer, which passes each connection on to the next one, and an agent that knows only this. */
async function balanced(encrypt: boolean, announces: boolean): Promise<Balanced> {
  const one = await rigs.server();
  const edges: Balanced['edges'] = [one, await rigs.server(one), await rigs.server(one)];
  await link(...edges);
  const passed = [0, 0, 0];
  let turn = 0;
  const balancer = await one.target((near) => {
    const at = turn++ % edges.length;
    passed[at] = (passed[at] ?? 0) + 1;
    const far = connect({ port: edges[at]?.port ?? 0, host: '127.0.0.1', allowHalfOpen: true });
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.on('close', () => far.destroy());
    near.pipe(far).pipe(near);
  });
  if (announces) {
    // Only its own address: the agent keeps one connection.
    const own = [{ id: 'one', host: '127.0.0.1', port: one.port }];
    one.server.announceEdges({ own: 'one', edges: own });
  }
  const { key } = one.client(encrypt);
  one.agent(key, { server: { host: '127.0.0.1', port: balancer } });
  await one.online(1);
  return { edges, passed, port: await tunnelAt(edges, [await one.echo()]) };
}

describe.each([false, true])('an agent behind a load balancer, sealed: %s', (encrypt) => {
  it('opens its channels at the server that wants them, where this one has told its address', async () => {
    const { edges, passed, port } = await balanced(encrypt, true);
    await waitFor(() => edges[0].idleChannels >= 4);
    const visits = Array.from({ length: 20 }, (_, at) => `visitor ${at}`);
    expect(await Promise.all(visits.map((text) => edges[0].answerTo(port, text)))).toEqual(visits);
    expect(passed).toEqual([1, 0, 0]);
  });

  it('has its channels passed on to that server by the others, where it knows no other address', async () => {
    const { edges, passed, port } = await balanced(encrypt, false);
    await waitFor(() => edges[0].idleChannels >= 4);
    const visits = Array.from({ length: 20 }, (_, at) => `visitor ${at}`);
    expect(await Promise.all(visits.map((text) => edges[0].answerTo(port, text)))).toEqual(visits);
    expect(passed[1]).toBeGreaterThan(0);
    expect(edges[0].server.connections(1)).toEqual([]);
  });
});
