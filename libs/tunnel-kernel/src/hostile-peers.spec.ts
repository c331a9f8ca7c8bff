import { onFlowFailure, type FlowFailure } from '@gatehouse/net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attackAgentPort, HostileServer, seededRandom } from '../test/hostile-peers.js';
import { TunnelRig } from '../test/tunnel-rig.js';
import { createServerIdentity, formatAgentKey, parseAgentKey } from './index.js';

const SEED = 7;
let rig: TunnelRig;
let failures: FlowFailure[];
let endWatch: () => void;
beforeEach(async () => {
  failures = [];
  endWatch = onFlowFailure((failure) => failures.push(failure));
  rig = new TunnelRig({ timeouts: { handshake: 2_000 } });
  await rig.listen();
});
afterEach(async () => {
  endWatch();
  await rig.close();
});

/** Uncaught exceptions fail the run automatically; those that a boundary caught are defects as well. */
const expectNoDefects = (): void => expect(failures.map(({ where, error }) => `${where}: ${error.stack}`)).toEqual([]);

describe('hostile peers', () => {
  it('at the port for agents cause no exception, and other agents and visitors do not notice', async () => {
    const good = rig.client(true);
    rig.agent(good.key);
    await rig.online(good.record.id);
    const bad = rig.client();
    const port = await rig.tunnel(good.record.id, [await rig.echo()]);
    const random = seededRandom(SEED);
    const { secret } = parseAgentKey(bad.key);
    const attacks = new Set<string>();
    for (let round = 0; round < 40; round++) {
      const names = await Promise.all(
        Array.from({ length: 8 }, () => attackAgentPort({ port: rig.port, secret }, random)),
      );
      for (const name of names) attacks.add(name);
      if (round % 8 === 0) expect(await rig.answerTo(port, `round ${round}`)).toBe(`round ${round}`);
    }
    expect(attacks.size).toBe(7);
    expect(await rig.answerTo(port, 'the end')).toBe('the end');
    await waitFor(() => {
      const { silent, handshaking, unauthenticated } = rig.server.agentPort();
      return silent + handshaking + unauthenticated === 0;
    });
    expect(rig.agents[0]?.history.map(({ state }) => state)).toEqual(['connecting', 'online']);
    expectNoDefects();
  });

  it('that act as servers cause no exception in an agent, which keeps retrying', async () => {
    const identity = createServerIdentity();
    const hostile = new HostileServer(identity, seededRandom(SEED));
    const server = { host: '127.0.0.1', port: await hostile.listen() };
    const { secret } = parseAgentKey(rig.client().key);
    const key = formatAgentKey({ secret, fingerprint: identity.fingerprint });
    const { agent } = rig.agent(key, { server, random: () => 0, p2p: true, fileRoots: ['/nowhere'] });
    await waitFor(() => hostile.connections > 300 || agent.status.state === 'stopped', { timeoutMs: 30_000 });
    expect(agent.status.state).not.toBe('stopped');
    await agent.stop();
    hostile.close();
    expectNoDefects();
  });
});
