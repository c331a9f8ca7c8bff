import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { DialedSocket } from './dialed-socket.js';
import { deliverTo, ReadMemory } from './read-memory.js';

/** What Node keeps of `onread`, and its handle: not of its documented interface, so looked for and never relied on. */
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
 * Makes an accepted TCP socket read as a `DialedSocket` does, from now on: Node has `onread` for sockets that are dialled
 * only, and what a relay reads costs half as much with it. The socket is paused; what it has read already comes first.
 * False: this Node or this stream cannot, and everything is as it was. Not for sockets that something else than `data`
 * events will read (`node:http`, undici).
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
