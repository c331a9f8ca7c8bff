import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A client's connection through a SOCKS5 proxy on this machine to a port of it. @throws Error when the proxy refuses. */
export async function socksConnect(proxyPort: number, port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: proxyPort, allowHalfOpen: true });
  socket.on('error', () => undefined);
  const name = Buffer.from(host);
  const address = Buffer.concat([Buffer.from([3, name.length]), name, Buffer.from([port >> 8, port & 255])]);
  socket.write(Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0]), address]));
  const answer = await readExactly(socket, 12);
  if (answer[3] !== 0) {
    socket.destroy();
    throw new Error(`the proxy answered ${answer[3]}`);
  }
  return socket;
}

/** The next bytes; what comes after them stays in the socket, which is left paused. */
export function readExactly(socket: Socket, size: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const stop = (): void => {
      socket.off('data', onData).off('end', onEnd).off('close', onEnd);
      socket.pause();
    };
    const onData = (bytes: Buffer): void => {
      read = Buffer.concat([read, bytes]);
      if (read.length < size) return;
      stop();
      if (read.length > size) socket.unshift(read.subarray(size));
      resolve(read.subarray(0, size));
    };
    const onEnd = (): void => {
      stop();
      reject(new Error(`the stream ended after ${read.length} of ${size} bytes`));
    };
    socket.on('data', onData).on('end', onEnd).on('close', onEnd);
    socket.resume();
  });
}

/** Datagrams through a SOCKS5 proxy on this machine to ports of it. */
export class SocksUdp {
  readonly #control: Socket;
  readonly #udp: UdpSocket;
  readonly #relayPort: number;

  private constructor(control: Socket, udp: UdpSocket, relayPort: number) {
    this.#control = control;
    this.#udp = udp;
    this.#relayPort = relayPort;
  }

  static async open(proxyPort: number): Promise<SocksUdp> {
    const control = connect(proxyPort, '127.0.0.1');
    control.on('error', () => undefined);
    control.write(Buffer.from([5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]));
    const answer = await readExactly(control, 12);
    if (answer[3] !== 0) throw new Error(`the proxy answered ${answer[3]}`);
    const udp = createSocket('udp4');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    return new SocksUdp(control, udp, answer.readUInt16BE(10));
  }

  send(payload: Buffer, port: number): void {
    const head = Buffer.from([0, 0, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]);
    this.#udp.send(Buffer.concat([head, payload]), this.#relayPort, '127.0.0.1');
  }

  /** The next datagram and the port that it comes from. */
  async receive(): Promise<{ payload: Buffer; port: number }> {
    const [bytes] = (await once(this.#udp, 'message')) as [Buffer];
    return { payload: bytes.subarray(10), port: bytes.readUInt16BE(8) };
  }

  /** What arrives, each datagram with a header of ten bytes (RFC 1928 section 7). */
  get socket(): Pick<UdpSocket, 'on' | 'off'> {
    return this.#udp;
  }

  close(): void {
    this.#control.destroy();
    this.#udp.close();
  }
}
