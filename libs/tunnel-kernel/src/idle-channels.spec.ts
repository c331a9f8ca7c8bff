import { setImmediate as immediate } from 'node:timers/promises';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { howItEnds, readAll, TunnelRig } from '../test/tunnel-rig.js';

let rig: TunnelRig;
afterEach(() => rig.close());

describe.each([false, true])('channels that were idle for long, sealed: %s', (encrypt) => {
  it('cost a visitor no more than a new channel if a middlebox dropped them', async () => {
    let later = 0;
    rig = new TunnelRig({ now: () => Date.now() + later });
    await rig.listen();
    const line = await rig.agentOnLine(encrypt);
    const port = await rig.tunnel(1, [await rig.echo()]);
    await waitFor(() => rig.idleChannels === 4);
    line.forget();
    later = 13_000;
    expect(await rig.answerTo(port, '?')).toBe('?');
  });

  it('are probed from time to time, and replaced when they do not answer', async () => {
    rig = new TunnelRig({ timeouts: { heartbeat: 100 }, pool: { answerMs: 50 } });
    await rig.listen();
    const line = await rig.agentOnLine(encrypt);
    await waitFor(() => rig.idleChannels === 4);
    const before = line.accepted;
    line.forget();
    await waitFor(() => line.accepted >= before + 4);
    const port = await rig.tunnel(1, [await rig.echo()]);
    await waitFor(() => rig.idleChannels === 4);
    expect(await rig.answerTo(port, '?')).toBe('?');
  });

  it('hold a visitor who arrives before the tunnel’s configuration until it has arrived', async () => {
    rig = new TunnelRig();
    await rig.listen();
    const line = await rig.agentOnLine(encrypt);
    await waitFor(() => rig.idleChannels === 4);
    line.hold(true);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const early = await rig.visit(port);
    early.end('?');
    const answer = readAll(early);
    await waitFor(() => line.received > 0);
    line.hold(false);
    expect(String(await answer)).toBe('?');
    expect(rig.failures).toEqual([]);
  });

  it('serve a visitor who was on the way when the agent was asked to stop', async () => {
    rig = new TunnelRig();
    await rig.listen();
    const { agent } = rig.agent(rig.client(encrypt).key);
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()]);
    await waitFor(() => rig.idleChannels === 4);
    const visitor = rig.visitor(port);
    visitor.end('?');
    // The server has started a channel, and the agent has not read of it yet.
    while (rig.server.flows === 0) await immediate();
    expect(agent.flows).toBe(0);
    const stopped = agent.stop(5000);
    expect(String(await readAll(visitor))).toBe('?');
    await stopped;
  });

  it('end together with a visitor whose tunnel never becomes known to the agent', async () => {
    rig = new TunnelRig();
    await rig.listen();
    const line = await rig.agentOnLine(encrypt);
    await waitFor(() => rig.idleChannels === 4);
    line.hold(true);
    const visitor = await rig.visit(await rig.tunnel(1, [await rig.echo()]));
    expect(await howItEnds(visitor)).toBe('ECONNRESET');
  });
});

describe('a port that another program uses', () => {
  it('is bound as soon as it is free, and the state reports it until then', async () => {
    rig = new TunnelRig();
    await rig.listen();
    const { key } = rig.client();
    rig.agent(key);
    await rig.online(1);
    const taken = await rig.occupiedPort();
    const echo = await rig.echo();
    expect(await rig.tunnel(1, [echo], { listen: { host: '127.0.0.1', port: taken.port } })).toBe(0);
    expect(rig.server.tunnels()).toMatchObject([{ state: 'error', error: `127.0.0.1:${taken.port} is in use` }]);
    await taken.release();
    await waitFor(() => rig.server.tunnels()[0]?.state === 'running');
    expect(rig.server.tunnels()).toMatchObject([{ port: taken.port, error: null }]);
    expect(await rig.answerTo(taken.port, '?')).toBe('?');
  });
});
