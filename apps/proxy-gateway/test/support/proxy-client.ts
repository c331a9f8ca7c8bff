import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ByteReader } from '@gatehouse/net';

/** GET through an HTTP proxy on loopback, in absolute form as browsers send it for plain http. */
export async function getThrough(proxyPort: number, url: string): Promise<{ status: number; body: Buffer }> {
  const asked = request({
    host: '127.0.0.1',
    port: proxyPort,
    path: url,
    headers: { host: new URL(url).host },
    agent: false,
  });
  const [reply] = await once(asked.end(), 'response');
  return { status: reply.statusCode, body: await buffer(reply) };
}

/** A CONNECT tunnel through an HTTP proxy on loopback. */
export async function tunnelThrough(proxyPort: number, host: string, port: number): Promise<Socket> {
  const socket = connect(proxyPort, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString().startsWith('HTTP/1.1 200')) throw new Error(`no tunnel: ${head.toString()}`);
  return socket;
}

/** SOCKS5 to an IPv4 address through a proxy on loopback. */
export async function socksTunnel(proxyPort: number, address: string, port: number): Promise<Socket> {
  const socket = connect(proxyPort, '127.0.0.1');
  socket.on('error', () => undefined);
  const ip = Buffer.from(address.split('.').map(Number));
  socket.write(
    Buffer.concat([Buffer.from([5, 1, 0]), Buffer.from([5, 1, 0, 1]), ip, Buffer.from([port >> 8, port & 255])]),
  );
  const reader = new ByteReader(socket);
  await reader.read(2);
  const code = (await reader.read(10))[1];
  reader.restore();
  if (code !== 0) throw new Error(`SOCKS reply ${code}`);
  return socket.resume();
}

export async function echo(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

/** Datagrams to IPv4 addresses through a SOCKS5 proxy on loopback. */
export interface Datagrams {
  send(address: string, port: number, text: string): void;
  /** The datagrams that came back. */
  received: string[];
  close(): void;
}

export async function datagramsThrough(proxyPort: number): Promise<Datagrams> {
  const control = connect(proxyPort, '127.0.0.1');
  control.on('error', () => undefined);
  control.write(Buffer.from([5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]));
  const reader = new ByteReader(control);
  await reader.read(2);
  const relay = Buffer.from(await reader.read(10)).readUInt16BE(8);
  const received: string[] = [];
  const socket = createSocket('udp4', (payload) => received.push(payload.subarray(10).toString()));
  return {
    received,
    send(address, port, text) {
      const head = Buffer.from([0, 0, 0, 1, ...address.split('.').map(Number), port >> 8, port & 255]);
      socket.send(Buffer.concat([head, Buffer.from(text)]), relay, '127.0.0.1');
    },
    close() {
      socket.close();
      control.destroy();
    },
  };
}

/** Echoes datagrams and records them. */
export async function startUdpEcho(): Promise<{ port: number; received: string[] } & AsyncDisposable> {
  const received: string[] = [];
  const socket = createSocket('udp4', (payload, from) => {
    received.push(payload.toString());
    socket.send(payload, from.port, from.address);
  });
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  return {
    port: socket.address().port,
    received,
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
