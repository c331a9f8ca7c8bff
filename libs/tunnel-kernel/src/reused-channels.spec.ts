import { once } from 'node:events';
import type { Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../test/host-rig.js';
import type { AgentLine } from '../test/agent-line.js';
import { readAll, TunnelRig } from '../test/tunnel-rig.js';
import type { TunnelServerEnvironment } from './index.js';

let rig: TunnelRig;
afterEach(() => rig.close());

async function start(encrypt: boolean, options: Partial<TunnelServerEnvironment> = {}): Promise<AgentLine> {
  const wanted = options.pool?.start ?? 4;
  rig = new TunnelRig(options);
  await rig.listen();
  const line = await rig.agentOnLine(encrypt);
  await waitFor(() => rig.idleChannels === wanted);
  return line;
}

describe.each([false, true])('data channels, sealed: %s', (encrypt) => {
  it('carry several visitors on the same connections, each with its own bytes', async () => {
    const line = await start(encrypt);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const before = line.accepted;
    for (let turn = 0; turn < 40; turn++) {
      expect(await rig.answerTo(port, `visitor ${turn}`)).toBe(`visitor ${turn}`);
      await waitFor(() => rig.idleChannels >= 4);
    }
    expect(line.accepted - before).toBeLessThanOrEqual(2);
    await waitFor(() => rig.records.length === 40);
    expect(new Set(rig.records.map(({ reason }) => reason))).toEqual(new Set(['client_closed']));
  });

  it('are also reused for another tunnel, and for targets that end first', async () => {
    const line = await start(encrypt);
    const hello = await rig.target((socket) => socket.resume().end('hello'));
    const tunnels = [rig.tunnelConfig(1, [await rig.echo()]), rig.tunnelConfig(1, [hello], { id: 8 })];
    const [echo, other] = await rig.server.apply(rig.config({ tunnels }));
    const before = line.accepted;
    for (let turn = 0; turn < 10; turn++) {
      expect(await rig.answerTo(echo?.port ?? 0, 'echo')).toBe('echo');
      expect(await rig.answerTo(other?.port ?? 0, 'x')).toBe('hello');
      await waitFor(() => rig.idleChannels >= 4);
    }
    expect(line.accepted - before).toBeLessThanOrEqual(2);
  });

  it('end with a visitor or a target that is reset', async () => {
    const line = await start(encrypt);
    const sockets: Socket[] = [];
    const port = await rig.tunnel(1, [await rig.target((socket) => void sockets.push(socket))]);
    const before = line.accepted;
    for (const side of ['visitor', 'target'] as const) {
      const visitor = await rig.visit(port);
      visitor.write('x');
      const at = side === 'visitor' ? 0 : 1;
      await waitFor(() => sockets.length === at + 1);
      const target = sockets[at] as Socket;
      await once(target, 'data');
      const [one, other] = side === 'visitor' ? [visitor, target] : [target, visitor];
      const closed = new Promise<void>((resolve) => other.resume().on('close', resolve));
      one.resetAndDestroy();
      await closed;
      // Another takes the place of each.
      await waitFor(() => line.accepted > before + at && rig.idleChannels === 4);
    }
  });

  it('carry a limited number of visitors', async () => {
    const line = await start(encrypt, { pool: { start: 1, visitors: 3 } });
    const port = await rig.tunnel(1, [await rig.echo()]);
    const before = line.accepted;
    for (let turn = 0; turn < 12; turn++) {
      expect(await rig.answerTo(port, '?')).toBe('?');
      await waitFor(() => rig.server.flows === 0 && rig.idleChannels >= 1);
    }
    // Three each, and one more that was opened ahead or two.
    expect(line.accepted - before).toBeGreaterThanOrEqual(4);
    expect(line.accepted - before).toBeLessThanOrEqual(6);
  });

  it('carry visitors for a limited time', async () => {
    let later = 0;
    const line = await start(encrypt, { pool: { start: 1 }, now: () => 1e9 + later });
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visit = async (endsAt: number): Promise<void> => {
      const visitor = await rig.visit(port);
      visitor.write('?');
      await once(visitor, 'data');
      later = endsAt;
      visitor.end();
      await readAll(visitor);
      await waitFor(() => rig.server.flows === 0);
    };
    // The control connection, the channel of the visitor, and one that was opened meanwhile.
    await visit(299_999);
    await waitFor(() => rig.idleChannels === 2 && line.open === 3);
    // One that was quiet for long is asked first; the answer of the older one may come first.
    later = 0;
    const opened = line.accepted;
    await visit(299_999);
    await waitFor(() => rig.idleChannels === 2 && line.open === 3);
    later = 0;
    await visit(300_000);
    await waitFor(() => line.open === 2);
    expect([rig.idleChannels, line.accepted]).toEqual([1, opened]);
  });

  it('are not kept for a client whose agent has left, and open visits finish', async () => {
    const line = await start(encrypt);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visitor = await rig.visit(port);
    visitor.write('half, ');
    await once(visitor, 'data');
    const [running] = rig.agents;
    const stopped = running?.agent.stop(5000);
    await waitFor(() => rig.server.agents().length === 0 || rig.idleChannels === 0);
    visitor.end('half');
    expect(String(await readAll(visitor))).toBe('half');
    await stopped;
    expect(line.accepted).toBeGreaterThan(0);
  });
});

describe.each([false, true])('a channel that carried a visitor of a tunnel, sealed: %s', (encrypt) => {
  it('also carries requests of a host with complete bodies', async () => {
    const hosts = await HostRig.start({}, { encrypt, pool: { start: 1 } });
    rig = hosts;
    const origin = await hosts.origin((asked, answer) => void asked.pipe(answer));
    const tunnels = [hosts.tunnelConfig(1, [await hosts.echo()])];
    const [tunnel] = await hosts.server.apply(hosts.config({ tunnels, hosts: [hosts.hostConfig([origin])] }));
    await waitFor(() => rig.idleChannels === 1);
    for (let turn = 0; turn < 3; turn++) {
      const visitor = await hosts.visit(tunnel?.port ?? 0);
      visitor.write('visitor');
      await once(visitor, 'data');
      await waitFor(() => rig.idleChannels >= 1);
      const before = rig.idleChannels;
      visitor.end();
      await readAll(visitor);
      // The newest is the next to be used.
      await waitFor(() => rig.idleChannels > before);
      const body = 'x'.repeat(300_000);
      const answer = await hosts.ask({ method: 'POST', body });
      expect([answer.status, answer.body.length]).toEqual([200, body.length]);
    }
  });
});
