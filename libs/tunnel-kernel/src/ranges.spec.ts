import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { reservePorts, waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { howItEnds, TunnelRig, type TestClient } from '../test/tunnel-rig.js';
import { ask, udpSocket } from '../test/udp-rig.js';
import type { TunnelConfig } from './index.js';

const COUNT = 5;
const sockets: Socket[] = [];
let rig: TunnelRig;
let client: TestClient;
let first: number;

beforeEach(async () => {
  rig = new TunnelRig();
  await rig.listen();
  client = rig.client();
  first = await reservePorts(COUNT + 1);
});

afterEach(async () => {
  await rig.close();
  for (const socket of sockets.splice(0)) socket.close();
});

/** Targets on ports in a row, each of which says its own port. */
async function namedTargets(count: number): Promise<number> {
  const from = await reservePorts(count);
  for (let port = from; port < from + count; port++) {
    await rig.target((socket) => socket.end(`${port}`), port);
    const socket = await udpSocket(port);
    sockets.push(socket);
    socket.on('message', (_, to) => socket.send(`${port}`, to.port, to.address));
  }
  return from;
}

function range(target: number, more: Partial<TunnelConfig> = {}): TunnelConfig {
  const listen = { host: '127.0.0.1', port: first };
  return rig.tunnelConfig(1, [target], { listen, ports: { count: COUNT, mapped: true }, ...more });
}

const apply = (...tunnels: TunnelConfig[]) => rig.server.apply(rig.config({ tunnels }));

async function online(): Promise<void> {
  rig.agent(client.key);
  await rig.online(1);
}

async function askOver(port: number): Promise<string> {
  const visitor = await udpSocket();
  sockets.push(visitor);
  return String(await ask(visitor, port, 'who?'));
}

describe('a range of ports', () => {
  it.each(['tcp', 'udp'] as const)('leads each port to its own target port, mode %s', async (mode) => {
    const from = await namedTargets(COUNT);
    await online();
    expect(await apply(range(from, { mode }))).toMatchObject([
      { state: 'running', port: first, lastPort: first + COUNT - 1, error: null },
    ]);
    for (const distance of [0, 2, COUNT - 1]) {
      const answer = mode === 'tcp' ? await rig.answerTo(first + distance, '') : await askOver(first + distance);
      expect(answer).toBe(`${from + distance}`);
    }
  });

  it.each(['tcp', 'udp'] as const)('leads all ports to one target port, mode %s', async (mode) => {
    const target = await namedTargets(1);
    await online();
    await apply(range(target, { mode, ports: { count: COUNT, mapped: false } }));
    for (const distance of [0, COUNT - 1]) {
      const answer = mode === 'tcp' ? await rig.answerTo(first + distance, '') : await askOver(first + distance);
      expect(answer).toBe(`${target}`);
    }
  });

  it('names the real port in the header of the PROXY protocol', async () => {
    const seen: string[] = [];
    const target = await rig.target((socket) => socket.on('data', (part) => seen.push(String(part))));
    await online();
    await apply(range(target, { ports: { count: COUNT, mapped: false }, proxyProtocol: 1 }));
    (await rig.visit(first + 3)).end();
    await waitFor(() => seen.join('').endsWith('\r\n'));
    expect(seen.join('')).toMatch(new RegExp(`^PROXY TCP4 127\\.0\\.0\\.1 127\\.0\\.0\\.1 \\d+ ${first + 3}\r\n$`));
  });

  it('fails on its own where one target port is closed', async () => {
    const from = await namedTargets(COUNT - 1);
    await online();
    await apply(range(from));
    expect(await howItEnds(await rig.visit(first + COUNT - 1))).toBe('ECONNRESET');
    expect(rig.failures).toEqual(['refused']);
    expect(await rig.answerTo(first, '')).toBe(`${from}`);
  });

  it('reports the port that cannot be bound, serves the others, and opens it when it is free', async () => {
    const from = await namedTargets(COUNT);
    await online();
    // Another tunnel has the third port until it is removed.
    const other = range(from, { id: 8, listen: { host: '127.0.0.1', port: first + 2 } });
    delete other.ports;
    await apply(other);
    expect(await apply(other, range(from))).toContainEqual({
      id: 7,
      clientId: 1,
      state: 'error',
      port: first,
      lastPort: first + COUNT - 1,
      error: `127.0.0.1:${first + 2} is in use`,
    });
    expect(await rig.answerTo(first + 3, '')).toBe(`${from + 3}`);
    expect(await apply(range(from))).toMatchObject([{ state: 'running', error: null }]);
    expect(await rig.answerTo(first + 2, '')).toBe(`${from + 2}`);
  });

  it('counts the ports that cannot be bound', async () => {
    await online();
    const other = range(1, {
      id: 8,
      listen: { host: '127.0.0.1', port: first + 3 },
      ports: { count: 2, mapped: false },
    });
    await apply(other);
    expect((await apply(other, range(1)))[1]?.error).toBe(
      `127.0.0.1:${first + 3} is in use; 2 ports of the range are not open`,
    );
  });

  it('grows and shrinks without an effect on visitors of ports that stay, or on those who are connected', async () => {
    const from = await namedTargets(COUNT);
    const echo = await rig.echo();
    await online();
    const steady = { count: COUNT, mapped: false };
    await apply(range(echo, { ports: steady }));
    const [inside, outside] = [await rig.visit(first), await rig.visit(first + COUNT - 1)];
    const [state] = await apply(range(echo, { ports: { ...steady, count: 3 } }));
    expect(state).toMatchObject({ port: first, lastPort: first + 2 });
    await expect(rig.visit(first + 3)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await apply(range(echo, { ports: { ...steady, count: COUNT + 1 } }))).toMatchObject([
      { lastPort: first + COUNT },
    ]);
    for (const visitor of [inside, outside, await rig.visit(first + COUNT)]) {
      visitor.write('still here');
      expect(String((await once(visitor, 'data'))[0])).toBe('still here');
    }
    // Connected visitors stay when the targets change as well.
    await apply(range(from));
    inside.write('and now');
    expect(String((await once(inside, 'data'))[0])).toBe('and now');
  });

  it('keeps datagrams of ports that stay with their session', async () => {
    const from = await namedTargets(COUNT);
    await online();
    await apply(range(from, { mode: 'udp' }));
    const visitor = await udpSocket();
    sockets.push(visitor);
    expect(String(await ask(visitor, first + 1, 'x'))).toBe(`${from + 1}`);
    await apply(range(from, { mode: 'udp', ports: { count: 3, mapped: true } }));
    expect(String(await ask(visitor, first + 1, 'x'))).toBe(`${from + 1}`);
    expect(rig.records).toEqual([]);
  });

  it.each([
    ['one port', { ports: { count: 1, mapped: false } }],
    ['too many ports', { ports: { count: 1001, mapped: false } }],
    ['a mode without ranges', { mode: 'socks5', ports: { count: 2, mapped: false } }],
    ['ports beyond the last one', { listen: { host: '127.0.0.1', port: 65_535 }, ports: { count: 2, mapped: false } }],
    ['target ports beyond the last one', { targets: [{ host: 'a', port: 65_535, weight: 1 }] }],
  ] as const)('is refused with %s', async (_, more) => {
    await expect(apply(range(1, more as Partial<TunnelConfig>))).rejects.toMatchObject({ code: 'protocol' });
  });
});
