import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { agentsElsewhere, link, peerAddressOf, PeerRigs, tunnelAt } from '../../test/peer-rig.js';
import { howItEnds, type TunnelRig } from '../../test/tunnel-rig.js';

const rigs = new PeerRigs();
afterEach(() => rigs.close());

/** A server with an agent, another one that has just started, and the port of a tunnel there. */
async function started(others?: number): Promise<{ far: TunnelRig; near: TunnelRig; port: number }> {
  const far = await rigs.server();
  far.agent(far.client().key);
  await far.online(1);
  const near = await rigs.server(far, others === undefined ? {} : { timeouts: { others } });
  return { far, near, port: await tunnelAt([near, far], [await near.echo()]) };
}

describe('a server that has just started', () => {
  it('does not know all agents before each other server has sent its own', async () => {
    const { far, near } = await started();
    const [a, b] = [await peerAddressOf(near), await peerAddressOf(far)];
    expect(near.server.knowsOthers).toBe(false);
    near.server.peers?.apply([a, b]);
    expect(near.server.knowsOthers).toBe(false);
    far.server.peers?.apply([a, b]);
    await waitFor(() => near.server.knowsOthers);
    expect(agentsElsewhere(near)).toBe(1);
  });

  it('knows all agents at once where it is alone', async () => {
    const { near } = await started();
    near.server.peers?.apply([await peerAddressOf(near)]);
    expect(near.server.knowsOthers).toBe(true);
  });

  it('lets a visitor wait until it hears of the agent', async () => {
    const { far, near, port } = await started();
    const answer = near.answerTo(port, 'early');
    const [a, b] = [await peerAddressOf(near), await peerAddressOf(far)];
    near.server.peers?.apply([a, b]);
    const later = near.answerTo(port, 'later');
    far.server.peers?.apply([a, b]);
    expect(await Promise.all([answer, later])).toEqual(['early', 'later']);
  });

  it('refuses a visitor of a client that is at no server as soon as it has heard of all', async () => {
    const { far, near } = await started();
    near.client();
    const port = await tunnelAt([near, far], [await near.echo()], { clientId: 2 });
    const refused = howItEnds(near.visitor(port));
    await link(near, far);
    expect(await refused).toBe('ECONNRESET');
    expect(await howItEnds(near.visitor(port))).toBe('ECONNRESET');
  });

  it('waits no longer than it may for a server that is not reached', async () => {
    const { far, near, port } = await started(300);
    const unreached = { ...(await peerAddressOf(far)), mesh: { host: '127.0.0.1', port: await near.unusedPort() } };
    near.server.peers?.apply([unreached]);
    expect(await howItEnds(near.visitor(port))).toBe('ECONNRESET');
    expect(near.server.knowsOthers).toBe(true);
  });
});

describe('a server that has lost a link', () => {
  it('lets visitors wait until the agents behind it are known again', async () => {
    const { far, near, port } = await started();
    await link(near, far);
    expect(await near.answerTo(port, 'before')).toBe('before');
    const { links } = far.server.peers as unknown as { links: Set<{ close(): void }> };
    for (const one of links) one.close();
    await waitFor(() => agentsElsewhere(near) === 0);
    expect(await near.answerTo(port, 'meanwhile')).toBe('meanwhile');
  });

  it('serves visitors who waited for its agents by those of another server', async () => {
    const far = await rigs.server();
    const [near, third] = [await rigs.server(far), await rigs.server(far)];
    await link(near, far, third);
    const { key } = far.client();
    const line = await far.line();
    far.agent(key, { replica: true, server: { host: '127.0.0.1', port: line.port } });
    third.agent(key, { replica: true });
    await waitFor(() => agentsElsewhere(near) === 2);
    const port = await tunnelAt([near, far, third], [await near.echo()]);
    // Half of the visitors wait for an agent that opens no channels.
    line.die(true);
    let served = 0;
    const visit = (text: string): Promise<string> => near.answerTo(port, text).finally(() => (served += 1));
    const answers = Promise.all(['a', 'b', 'c', 'd'].map(visit));
    await waitFor(() => served >= 2);
    await far.server.stop();
    expect(await answers).toEqual(['a', 'b', 'c', 'd']);
  });
});
