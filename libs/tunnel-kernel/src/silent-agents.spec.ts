import { request } from 'node:http';
import type { Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentLine } from '../test/agent-line.js';
import { agentsElsewhere, link, PeerRigs, tunnelAt } from '../test/peer-rig.js';
import { howItEnds, type TunnelRig } from '../test/tunnel-rig.js';
import { systemDialer, type HostConfig } from './index.js';
import type { AgentDialer } from './environment.js';

const rigs = new PeerRigs();
afterEach(() => rigs.close());

/** Longer than an agent may be silent before another way is taken, much shorter than heartbeats take. */
const SOON_MS = 8_000;

interface Cut {
  near: TunnelRig;
  far: TunnelRig;
  /** Without an agent of its own. */
  third: TunnelRig;
  /** Between the near server and the agent, which is connected to the far one as well. */
  line: AgentLine;
  port: number;
}

/** Three servers, and an agent with connections to two of them. */
async function cut(encrypt = false): Promise<Cut> {
  const far = await rigs.server();
  const near = await rigs.server(far);
  const third = await rigs.server(far);
  await link(near, far, third);
  const line = await near.line();
  const list = [
    { id: 'near', host: '127.0.0.1', port: line.port },
    { id: 'far', host: '127.0.0.1', port: far.port },
  ];
  near.server.announceEdges({ own: 'near', edges: list });
  far.server.announceEdges({ own: 'far', edges: list });
  near.agent(near.client(encrypt).key, { server: { host: '127.0.0.1', port: line.port } });
  await near.online(1);
  await waitFor(() => agentsElsewhere(near) === 1 && agentsElsewhere(far) === 1);
  return { near, far, third, line, port: await tunnelAt([near, far], [await near.echo()]) };
}

async function pageServer(rig: TunnelRig): Promise<number> {
  return rig.target((socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'));
  });
}

async function hostAt([rig, other]: [TunnelRig, TunnelRig], target: number): Promise<number> {
  const http = await rig.server.listenHttp({ host: '127.0.0.1', port: 0 });
  const host: HostConfig = {
    id: 3,
    clientId: 1,
    host: 'a.example',
    location: '/',
    scheme: 'all',
    targets: [{ host: '127.0.0.1', port: target, weight: 1, scheme: 'http', insecure: false }],
    certificate: null,
    redirectToHttps: false,
    rewriteHost: null,
    requestHeaders: {},
    responseHeaders: {},
  };
  await other.server.apply(other.config({ hosts: [host] }));
  await rig.server.apply(rig.config({ hosts: [host] }));
  return http;
}

const statusOf = (port: number): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', headers: { host: 'a.example' }, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    asked.on('error', reject).end();
  });

async function within<T>(limitMs: number, act: () => Promise<T>): Promise<T> {
  const since = performance.now();
  const result = await act();
  expect(performance.now() - since).toBeLessThan(limitMs);
  return result;
}

describe.each([false, true])(
  'an agent that is cut off without a word from one of its servers, sealed: %s',
  (encrypt) => {
    it('is reached through the other server within seconds, and directly once it answers again', async () => {
      const { near, far, line, port } = await cut(encrypt);
      expect(await near.answerTo(port, 'before')).toBe('before');
      line.die(true);
      // Whoever comes at first is told after a few seconds to come again.
      const first = near.visitor(port);
      first.write('?');
      expect(await within(SOON_MS, () => howItEnds(first))).toBe('ECONNRESET');
      expect(await within(1_000, () => near.answerTo(port, 'second'))).toBe('second');
      expect(agentsElsewhere(far)).toBe(0);
      line.die(false);
      line.cut();
      await waitFor(() => agentsElsewhere(far) === 1);
      await waitFor(async () => (await near.answerTo(port, 'later'), far.server.connections(1).length === 0));
    });

    it('costs a request to a host some seconds, on a new connection to the target and on one that was kept', async () => {
      const { near, far, line } = await cut(encrypt);
      const http = await hostAt([near, far], await pageServer(near));
      expect(await statusOf(http)).toBe(200);
      line.die(true);
      const both = (): Promise<unknown[]> => Promise.all([statusOf(http), statusOf(http)]);
      expect(await within(SOON_MS, both)).toEqual([200, 200]);
      expect(await within(1_000, () => statusOf(http))).toBe(200);
    });

    it('is reached through the other server by visitors of a third one, too', async () => {
      const { near, far, third, line } = await cut(encrypt);
      await waitFor(() => agentsElsewhere(third) === 2);
      const port = await tunnelAt([third, near, far], [await near.echo()]);
      const visits = ['a', 'b', 'c', 'd'];
      const all = (): Promise<string[]> => Promise.all(visits.map((text) => third.answerTo(port, text)));
      expect(await all()).toEqual(visits);
      line.die(true);
      // Those who came to the silent one are told to come again.
      await within(SOON_MS, () => Promise.allSettled(visits.map((text) => third.answerTo(port, text))));
      await waitFor(() => agentsElsewhere(third) === 1);
      expect(await within(1_000, all)).toEqual(visits);
    });
  },
);

describe('agents that are silent for a while', () => {
  it('keep visitors who came before, and all where there is no other way', async () => {
    const { near, far, line } = await cut();
    const { key } = near.client();
    const unreached = { ...systemDialer, server: onlyTo(line.port) };
    near.agent(key, { server: { host: '127.0.0.1', port: line.port }, dialer: unreached });
    await near.online(2);
    const echo = await near.echo();
    const tunnels = [near.tunnelConfig(1, [echo], { id: 1 }), near.tunnelConfig(2, [echo], { id: 2 })];
    await far.server.apply(far.config({ tunnels }));
    const [first, second] = await near.server.apply(near.config({ tunnels }));
    const before = await Talk.with(near, first?.port);
    await before.says('before ');
    line.pause(true);
    const late = near.visitor(first?.port ?? 0);
    late.write('?');
    const waits = await Talk.with(near, second?.port);
    const answered = waits.says('patient');
    answered.catch(() => undefined);
    expect(await howItEnds(late)).toBe('ECONNRESET');
    expect(agentsElsewhere(far)).toBe(1);
    line.pause(false);
    await answered;
    await before.says('after');
    await waitFor(() => agentsElsewhere(far) === 2);
  });
});

/** A visitor of an echo. */
class Talk {
  private said = '';
  private heard = '';

  private constructor(private readonly socket: Socket) {
    socket.on('data', (part) => (this.heard += String(part)));
  }

  static async with(rig: TunnelRig, port = 0): Promise<Talk> {
    return new Talk(await rig.visit(port));
  }

  /** Resolves when it was heard back. */
  async says(text: string): Promise<void> {
    this.said += text;
    this.socket.write(text);
    await waitFor(() => this.heard === this.said, { timeoutMs: 30_000 });
  }
}

/** Reaches servers at one port only. */
function onlyTo(port: number): AgentDialer['server'] {
  return (address, timeoutMs) =>
    address.port === port ? systemDialer.server(address, timeoutMs) : Promise.reject(new Error('not reached'));
}
