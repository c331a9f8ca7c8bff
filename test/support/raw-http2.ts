import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

export const H2 = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;
export const END_STREAM = 1;
export const END_HEADERS = 4;

export function h2Frame(type: number, flags: number, stream: number, body: Uint8Array = new Uint8Array()): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(body.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, body]);
}

/** Fields in HPACK (RFC 7541), each a literal that is not indexed; names and values below 127 bytes. */
export function hpack(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value, 'latin1')]);
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
}

/** A visitor that speaks HTTP/2 frame by frame. */
export class RawHttp2 {
  readonly socket: TLSSocket;
  readonly frames: { type: number; flags: number; stream: number; body: Buffer }[] = [];
  ended = false;

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    let rest = Buffer.alloc(0);
    socket.on('error', () => undefined).on('close', () => (this.ended = true));
    socket.on('data', (part: Buffer) => {
      rest = Buffer.concat([rest, part]);
      while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
        const end = 9 + rest.readUIntBE(0, 3);
        const [type = 0, flags = 0] = rest.subarray(3, 5);
        this.frames.push({ type, flags, stream: rest.readUInt32BE(5), body: rest.subarray(9, end) });
        rest = rest.subarray(end);
      }
    });
  }

  static async connect(port: number, servername: string): Promise<RawHttp2> {
    const socket = connect({ port, host: '127.0.0.1', servername, ALPNProtocols: ['h2'], rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const visitor = new RawHttp2(socket);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    visitor.send(h2Frame(H2.settings, 0, 0));
    return visitor;
  }

  send(...frames: Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  has(type: number, stream?: number): boolean {
    return this.frames.some((frame) => frame.type === type && (stream === undefined || frame.stream === stream));
  }
}
