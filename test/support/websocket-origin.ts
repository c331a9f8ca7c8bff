import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Takes a WebSocket (RFC 6455) and says back each short message: an origin for tests, for `upgrade` of a server. */
export function echoWebSocket(request: IncomingMessage, socket: Duplex): void {
  const key = request.headers['sec-websocket-key'] ?? '';
  const accept = createHash('sha1')
    .update(key + GUID)
    .digest('base64');
  socket.on('error', () => undefined);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let read = Buffer.alloc(0);
  socket.on('data', (part: Buffer) => {
    read = Buffer.concat([read, part]);
    for (let size = frameSize(read); size > 0 && read.length >= size; size = frameSize(read)) {
      socket.write(answer(read.subarray(0, size)));
      if (((read[0] ?? 0) & 15) === 8) return void socket.end();
      read = read.subarray(size);
    }
  });
  socket.on('end', () => socket.end());
}

/** Length of a masked frame with up to 65,535 bytes of payload; 0 where it is not known yet. */
function frameSize(bytes: Buffer): number {
  if (bytes.length < 2) return 0;
  const short = (bytes[1] ?? 0) & 127;
  if (short < 126) return 6 + short;
  return bytes.length < 4 ? 0 : 8 + bytes.readUInt16BE(2);
}

/** The same frame as a server sends it: without a mask. */
function answer(frame: Buffer): Buffer {
  const extended = ((frame[1] ?? 0) & 127) === 126;
  const headerBytes = extended ? 4 : 2;
  const mask = frame.subarray(headerBytes, headerBytes + 4);
  const payload = frame.subarray(headerBytes + 4).map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  const header = Buffer.from(frame.subarray(0, headerBytes));
  header[1] = (header[1] ?? 0) & 127;
  return Buffer.concat([header, payload]);
}
