import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { DialedSocket } from './dialed-socket.js';
import { deliverTo, ReadMemory } from './read-memory.js';

/** Node's internal state of `onread`, and the handle. Undocumented, so its absence must be handled. */
interface Inside {
  [field: symbol]: unknown;
  _handle?: { useUserBuffer?: (buffer: Buffer) => void } | null;
}

interface OnreadFields {
  buffer: symbol;
  callback: symbol;
  next: symbol;
}

const fields = findFields();

function findFields(): OnreadFields | null {
  const symbols = new Map(Object.getOwnPropertySymbols(new Socket()).map((symbol) => [symbol.description, symbol]));
  const [buffer, callback, next] = ['kBuffer', 'kBufferCb', 'kBufferGen'].map((name) => symbols.get(name));
  return buffer && callback && next ? { buffer, callback, next } : null;
}

/**
 * Makes an accepted TCP socket read like a `DialedSocket` from now on: Node offers `onread` for dialled sockets only, and
 * with it a relay's reads cost half as much. The socket must be paused; what it has already read comes first. Returns false,
 * without any change, where this version of Node or this stream does not support it. Not for sockets that are read in another
 * way than by `data` events (`node:http`, undici).
 */
export function reuseMemory(stream: object): boolean {
  if (fields === null || !(stream instanceof Socket) || stream instanceof TLSSocket || stream instanceof DialedSocket) {
    return false;
  }
  const socket = stream as Socket & { release?: () => void };
  const inside = stream as unknown as Inside;
  const handle = inside._handle;
  if (socket.destroyed || typeof handle?.useUserBuffer !== 'function' || inside[fields.buffer] !== null) return false;
  const memory: ReadMemory = new ReadMemory((chunk) => deliverTo(socket, chunk));
  const first = memory.nextBuffer();
  inside[fields.next] = () => memory.nextBuffer();
  inside[fields.callback] = (bytes: number) => memory.received(bytes);
  inside[fields.buffer] = first;
  handle.useUserBuffer(first);
  socket.release = () => memory.release();
  socket.on('close', () => memory.recycle());
  return true;
}
