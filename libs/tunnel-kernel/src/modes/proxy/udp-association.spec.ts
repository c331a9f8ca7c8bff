import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encodeSocksDatagram, type SocksAddress } from '@gatehouse/net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TunnelRig } from '../../../test/tunnel-rig.js';
import { decodeDatagram } from './socks5.js';

let rig: TunnelRig;
let target: UdpSocket;
const sockets: { close(): unknown }[] = [];
beforeEach(async () => {
  rig = new TunnelRig();
  await rig.listen();
  target = await udp();
  target.on('message', (datagram, from) => target.send(`echo ${String(datagram)}`, from.port, from.address));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  await rig.close();
});

async function udp(): Promise<UdpSocket> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  sockets.push(socket);
  return socket;
}

interface Association {
  /** The association ends with it. */
  control: Socket;
  port: number;
}

async function associate(destinations: string[] = []): Promise<Association> {
  rig.agent(rig.client().key);
  await rig.online(1);
  const port = await rig.tunnel(1, [], { mode: 'socks5', destinations });
  return open(port);
}

async function open(port: number): Promise<Association> {
  const control = connect({ port, host: '127.0.0.1' });
  sockets.push({ close: () => control.destroy() });
  control.write(Buffer.of(5, 1, 0));
  await once(control, 'data');
  control.write(Buffer.of(5, 3, 0, 1, 0, 0, 0, 0, 0, 0));
  const [reply] = (await once(control, 'data')) as [Buffer];
  expect([...reply.subarray(0, 8)]).toEqual([5, 0, 0, 1, 127, 0, 0, 1]);
  return { control, port: reply.readUInt16BE(8) };
}

function encodeDatagram(target: SocksAddress, payload: Buffer): Buffer {
  const datagram = encodeSocksDatagram(target, payload);
  if (!datagram) throw new Error(`${target.host} cannot be written`);
  return datagram;
}

const to = (host: string, port = target.address().port): { host: string; port: number } => ({ host, port });

describe('a UDP association', () => {
  it('relays datagrams to addresses and names, with the sources of the answers', async () => {
    const { port } = await associate();
    const visitor = await udp();
    for (const host of ['127.0.0.1', 'localhost']) {
      visitor.send(encodeDatagram(to(host), Buffer.from(host)), port, '127.0.0.1');
      const [answer] = (await once(visitor, 'message')) as [Buffer, RemoteInfo];
      const decoded = decodeDatagram(answer);
      expect(String(decoded?.payload)).toBe(`echo ${host}`);
      expect(decoded?.target.port).toBe(target.address().port);
    }
    await waitFor(() => rig.server.takeDeltas().some(({ connections }) => connections === 1));
  });

  it('reaches only the destinations of the tunnel', async () => {
    const elsewhere = await udp();
    let stray = 0;
    elsewhere.on('message', () => (stray += 1));
    const { port } = await associate([`127.0.0.1:${target.address().port}`]);
    const visitor = await udp();
    visitor.send(encodeDatagram(to('127.0.0.1', elsewhere.address().port), Buffer.from('x')), port, '127.0.0.1');
    visitor.send(encodeDatagram(to('127.0.0.1'), Buffer.from('y')), port, '127.0.0.1');
    // The earlier one was dropped by the time this one is answered.
    await once(visitor, 'message');
    expect(stray).toBe(0);
  });

  it('drops fragments, unreadable datagrams, and those from another port', async () => {
    const { port } = await associate();
    const [visitor, stranger] = [await udp(), await udp()];
    let received = 0;
    stranger.on('message', () => (received += 1));
    const good = encodeDatagram(to('127.0.0.1'), Buffer.from('good'));
    visitor.send(good, port, '127.0.0.1');
    await once(visitor, 'message');
    const fragment = Buffer.from(good);
    fragment[2] = 1;
    const answers: string[] = [];
    visitor.on('message', (answer) => answers.push(String(decodeDatagram(answer)?.payload)));
    stranger.send(good, port, '127.0.0.1');
    for (const bad of [fragment, good.subarray(0, 9), Buffer.of(0, 0, 0, 3, 200, 1), Buffer.alloc(0)]) {
      visitor.send(bad, port, '127.0.0.1');
    }
    visitor.send(encodeDatagram(to('127.0.0.1'), Buffer.from('last')), port, '127.0.0.1');
    await waitFor(() => answers.length > 0);
    expect(answers).toEqual(['echo last']);
    expect(received).toBe(0);
  });

  it('ends with its connection', async () => {
    const { control, port } = await associate();
    const visitor = await udp();
    visitor.send(encodeDatagram(to('127.0.0.1'), Buffer.from('x')), port, '127.0.0.1');
    await once(visitor, 'message');
    control.end();
    await waitFor(() => rig.server.flows === 0);
    await waitFor(() => rig.records.length === 1);
    expect(rig.records[0]).toMatchObject({ upload: 1, download: 6 });
    // The port is free again.
    const again = createSocket('udp4').bind(port, '127.0.0.1');
    sockets.push(again);
    await once(again, 'listening');
  });

  it('ends with the tunnel', async () => {
    const { control, port } = await associate();
    const visitor = await udp();
    visitor.send(encodeDatagram(to('127.0.0.1'), Buffer.from('x')), port, '127.0.0.1');
    await once(visitor, 'message');
    const closed = once(control, 'close');
    control.resume();
    await rig.server.apply(rig.config({}));
    await closed;
    expect(rig.server.flows).toBe(0);
  });
});
