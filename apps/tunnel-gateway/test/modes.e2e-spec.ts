import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { reservePort, waitFor } from '@gatehouse/testing';
import { TunnelVisitor } from '@gatehouse/tunnel-kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld, type AnyJson } from './support/tunnel-world.js';

const quiet = (): void => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

let world: TunnelWorld;
let client: AnyJson;
beforeAll(async () => {
  world = await TunnelWorld.start();
  client = await world.client();
  await world.online(client.key);
});
afterAll(() => world.close());

const inlet = async (tunnel: AnyJson): Promise<number> =>
  (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.inlet_flow;

describe('the modes of tunnels', () => {
  it('udp: carries datagrams in both directions and counts them', async () => {
    const target = createSocket('udp4');
    target.on('message', (data, { port, address }) => target.send(data, port, address));
    target.bind(0, '127.0.0.1');
    await once(target, 'listening');
    world.onClose(() => target.close());
    const tunnel = await world.tunnel(client.id, target.address().port, {
      mode: 'udp',
      listen_port: await reservePort(),
    });
    const visitor = createSocket('udp4');
    world.onClose(() => visitor.close());
    let answers = 0;
    visitor.on('message', (data) => {
      if (data.toString() === 'ping') answers += 1;
    });
    // A datagram may be lost before the way stands.
    await waitFor(() => {
      visitor.send('ping', tunnel.listen_port, '127.0.0.1');
      return answers > 0;
    });
    await waitFor(async () => (await inlet(tunnel)) >= 4);
  });

  it('http_proxy: reaches only the destinations of the tunnel', async () => {
    const [open, shut] = [await world.echo(), await world.echo()];
    const tunnel = await world.tunnel(client.id, 0, { mode: 'http_proxy', target_addr: `127.0.0.1:${open}` });
    const tunnelTo = async (port: number): Promise<string> => {
      const socket = connect(tunnel.listen_port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
      const [head] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return head.toString().slice(0, 12);
    };
    expect(await tunnelTo(open)).toBe('HTTP/1.1 200');
    expect(await tunnelTo(shut)).toBe('HTTP/1.1 403');
  });

  it('secret: has no port and accepts visitors with the key', async () => {
    const { body: tunnel } = await world.admin('POST', '/tunnels', {
      client_id: client.id,
      mode: 'secret',
      target_addr: `127.0.0.1:${await world.echo()}`,
    });
    await waitFor(async () => (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.run_status === 1);
    const visit = async (key: string): Promise<string | null> => {
      const visitor = new TunnelVisitor({ server: { host: '127.0.0.1', port: world.edges.ports.agents }, key, logger });
      const answer = await world.ask(await visitor.listen({ host: '127.0.0.1', port: 0 }), 'private');
      visitor.stop();
      return answer;
    };
    await waitFor(async () => (await visit(tunnel.visitor_key)) === 'private');
    const { body: renewed } = await world.admin('POST', `/tunnels/${tunnel.id}/rotate-visitor-key`);
    await waitFor(async () => (await visit(tunnel.visitor_key)) === null);
    expect(await visit(renewed.visitor_key)).toBe('private');
  });
});
