import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { howItEnds, readAll, TunnelRig, type TestClient } from '../test/tunnel-rig.js';

let rig: TunnelRig;
beforeEach(async () => {
  rig = new TunnelRig();
  await rig.listen();
});
afterEach(() => rig.close());

describe.each([
  ['plain', false],
  ['sealed', true],
])('mode tcp over %s data channels', (_, encrypt) => {
  let client: TestClient;
  beforeEach(() => {
    client = rig.client(encrypt);
  });

  const start = async (target: number) => {
    const running = rig.agent(client.key);
    await rig.online(1);
    return { ...running, port: await rig.tunnel(1, [target]) };
  };

  it('carries bytes in both directions and ends each direction separately', async () => {
    const target = await rig.target((socket) => {
      let question = '';
      socket.on('data', (part) => (question += String(part)));
      // Answers only after the end of the question.
      socket.on('end', () => socket.end(`answer to ${question}`));
    });
    const { port, agent } = await start(target);
    const visitor = await rig.visit(port);
    visitor.end('the question');
    expect(String(await readAll(visitor))).toBe('answer to the question');
    await waitFor(() => rig.records.length === 1);
    expect(rig.records[0]).toMatchObject({
      resource: { kind: 'tunnel', id: 7 },
      clientId: 1,
      upload: 12,
      download: 22,
      reason: 'client_closed',
    });
    await waitFor(() => agent.flows === 0);
    expect(agent.takeDeltas()).toMatchObject([{ upload: 12, download: 22, connections: 1 }]);
    expect(rig.server.takeDeltas()).toMatchObject([{ upload: 12, download: 22, connections: 1 }]);
  });

  it('lets a target send first', async () => {
    const target = await rig.target((socket) => socket.write('220 ready\r\n'));
    const { port } = await start(target);
    const visitor = await rig.visit(port);
    expect(String((await once(visitor, 'data'))[0])).toBe('220 ready\r\n');
  });

  it('carries large transfers unchanged through readers that pause, and counts them meanwhile', async () => {
    const { port, agent } = await start(await rig.echo());
    const size = 12 * 1024 * 1024;
    let seen = 0;
    await Promise.all(
      Array.from({ length: 3 }, async () => {
        const visitor = await rig.visit(port);
        const sent = randomBytes(size);
        const hash = createHash('sha256');
        visitor.on('data', (part) => {
          hash.update(part);
          if (Math.random() < 0.02) {
            visitor.pause();
            setImmediate(() => visitor.resume());
          }
        });
        visitor.end(sent);
        seen ||= rig.server.takeDeltas()[0]?.upload ?? 0;
        await once(visitor, 'end');
        expect(hash.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'));
      }),
    );
    await waitFor(() => rig.server.flows === 0 && agent.flows === 0);
    const delta = rig.server.takeDeltas()[0];
    expect((delta?.upload ?? 0) + seen).toBe(3 * size);
    expect(agent.takeDeltas()).toMatchObject([{ upload: 3 * size, download: 3 * size, connections: 3 }]);
    expect(rig.records.reduce((sum, { download }) => sum + download, 0)).toBe(3 * size);
  });

  it('slows a sender down while nobody reads', async () => {
    const target = await rig.target((socket) => void socket.pause());
    const { port } = await start(target);
    const visitor = await rig.visit(port);
    const block = Buffer.alloc(1024 * 1024);
    let before = -1;
    // Until nothing more is taken: the buffers of the systems between are full.
    await waitFor(
      () => {
        if (visitor.writableLength < block.length) visitor.write(block);
        const [flow] = rig.records.length === 0 ? [visitor.bytesWritten - visitor.writableLength] : [0];
        const still = flow === before && visitor.writableLength >= block.length;
        before = flow ?? 0;
        return still;
      },
      { timeoutMs: 15_000, intervalMs: 200 },
    );
    expect(before).toBeLessThan(64 * 1024 * 1024);
  });

  it('passes the abort of a visitor to the target', async () => {
    const ends: Promise<string>[] = [];
    const target = await rig.target((socket) => ends.push(howItEnds(socket)));
    const { port } = await start(target);
    const visitor = await rig.visit(port);
    visitor.write('half a');
    await waitFor(() => ends.length === 1);
    visitor.resetAndDestroy();
    expect(await ends[0]).toBe('ECONNRESET');
    await waitFor(() => rig.records.length === 1);
    expect(rig.records[0]).toMatchObject({ upload: 6, reason: 'client_error' });
  });

  it('passes the abort of a target to the visitor', async () => {
    const target = await rig.target((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const { port } = await start(target);
    const visitor = await rig.visit(port);
    visitor.write('?');
    expect(await howItEnds(visitor)).toBe('ECONNRESET');
  });

  it('resets visitors if no program listens at the target, and reports it', async () => {
    const closed = await rig.target(() => undefined);
    const { port } = await start(closed);
    // A port that was free a moment ago, and is again.
    const gone = await rig.tunnel(1, [1]);
    expect(gone).toBeGreaterThan(0);
    expect(gone).toBe(port);
    expect(await howItEnds(rig.visitor(gone))).toBe('ECONNRESET');
    await waitFor(() => rig.failures.length === 1);
    expect(rig.failures).toEqual(['refused']);
  });

  it('survives 1000 short connections, and serves the next ones', async () => {
    const { port, agent } = await start(await rig.echo());
    let left = 1000;
    const worker = async (): Promise<void> => {
      while (left-- > 0) {
        const visitor = await rig.visit(port);
        visitor.end('ping');
        expect(String(await readAll(visitor))).toBe('ping');
      }
    };
    await Promise.all(Array.from({ length: 32 }, worker));
    await waitFor(() => rig.records.length === 1000 && agent.flows === 0);
    expect(rig.server.takeDeltas()).toMatchObject([{ upload: 4000, download: 4000, connections: 1000 }]);
    expect(agent.takeDeltas()).toMatchObject([{ upload: 4000, download: 4000, connections: 1000 }]);
    await waitFor(() => (rig.server.agents()[0]?.idleChannels ?? 0) >= 4);
    // 64 are opened ahead at most, and as many may have returned since.
    expect(rig.server.agents()[0]?.idleChannels).toBeLessThanOrEqual(128);
  }, 60_000);
});

describe('mode tcp', () => {
  it('sends the visitor’s address to targets', async () => {
    const { key } = rig.client();
    rig.agent(key);
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()], { proxyProtocol: 1 });
    const visitor = await rig.visit(port);
    const { localPort } = visitor;
    visitor.end('hello');
    const text = String(await readAll(visitor));
    expect(text).toBe(`PROXY TCP4 127.0.0.1 127.0.0.1 ${localPort} ${port}\r\nhello`);
    await waitFor(() => rig.records.length === 1);
  });

  it('uses the targets in turn, and skips one that does not answer', async () => {
    const { key } = rig.client();
    rig.agent(key);
    await rig.online(1);
    const say = (text: string) => rig.target((socket) => socket.end(text));
    const port = await rig.tunnel(1, [await say('a'), 1, await say('b')]);
    const answers: string[] = [];
    for (let visit = 0; visit < 6; visit++) {
      const visitor = await rig.visit(port);
      visitor.end();
      answers.push(String(await readAll(visitor)));
    }
    expect([...answers].sort().join('')).toMatch(/^a{2,4}b{2,4}$/);
    expect(rig.failures).toEqual([]);
  });

  it('does not reach targets that the agent does not allow', async () => {
    const { key } = rig.client();
    rig.agent(key, { allows: () => false });
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()]);
    expect(await howItEnds(rig.visitor(port))).toBe('ECONNRESET');
    await waitFor(() => rig.failures.length === 1);
    expect(rig.failures).toEqual(['forbidden']);
  });

  it('opens channels only for visited clients if there are many agents', async () => {
    await rig.close();
    rig = new TunnelRig({ pool: { quietAbove: 1 } });
    await rig.listen();
    const clients = [rig.client(), rig.client(true)];
    for (const [index, { key }] of clients.entries()) {
      rig.agent(key);
      await rig.online(index + 1);
    }
    const port = await rig.tunnel(2, [await rig.echo()]);
    const idle = (): number[] => rig.server.agents().map(({ idleChannels }) => idleChannels);
    await waitFor(() => idle()[0] === 4);
    expect(idle()).toEqual([4, 0]);
    const visitor = await rig.visit(port);
    visitor.end('?');
    expect(String(await readAll(visitor))).toBe('?');
    await waitFor(() => (idle()[1] ?? 0) >= 4);
  });

  it('resets visitors while no agent is connected', async () => {
    rig.client();
    const port = await rig.tunnel(1, [await rig.echo()]);
    expect(rig.server.tunnels()).toMatchObject([{ id: 7, state: 'waiting' }]);
    expect(await howItEnds(rig.visitor(port))).toBe('ECONNRESET');
  });

  it('ends the connections of a deleted tunnel and releases its port', async () => {
    const { key } = rig.client();
    rig.agent(key);
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visitor = await rig.visit(port);
    visitor.write('x');
    await once(visitor, 'data');
    const ended = howItEnds(visitor);
    await rig.server.apply(rig.config({}));
    expect(await ended).toBe('ECONNRESET');
    await expect(rig.visit(port)).rejects.toThrow('ECONNREFUSED');
  });

  it('reports a port that cannot be bound, and binds it when it is free', async () => {
    rig.client();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const listen = { host: '127.0.0.1', port: (other.address() as AddressInfo).port };
    await rig.tunnel(1, [1], { listen });
    const error = `127.0.0.1:${listen.port} is in use`;
    expect(rig.server.tunnels()).toEqual([{ id: 7, clientId: 1, state: 'error', port: 0, error }]);
    other.close();
    await once(other, 'close');
    await waitFor(() => rig.server.tunnels()[0]?.error === null);
    expect(rig.server.tunnels()).toMatchObject([{ state: 'waiting', port: listen.port }]);
  });

  it('refuses a configuration that is too large for agents, and keeps the previous one', async () => {
    rig.client();
    const port = await rig.tunnel(1, [1]);
    await expect(rig.tunnel(1, [0])).rejects.toThrow('tunnel 7: target 127.0.0.1:0');
    await expect(rig.tunnel(1, [])).rejects.toThrow('1 to 64 targets');
    expect(rig.server.tunnels()).toMatchObject([{ port }]);
  });
});
