import type { Socket } from 'node:net';
import { ByteReader, ByteReaderError, setFlowTimeout, SOCKS5_VERSION, SocksError } from '@gatehouse/net';
import type { Inbound, InboundContext } from '../../interfaces/index.js';
import { serveConnect } from '../http/connect.js';
import { HttpForwarder } from '../http/forwarder.js';
import { SOCKS4_VERSION } from '../socks/codec.js';
import { serveSocks } from '../socks/inbound.js';

/** The longest request head or handshake. */
const MAX_HANDSHAKE_BYTES = 16 * 1024;
const CONNECT = Buffer.from('CONNECT ');

/**
 * HTTP proxy and SOCKS on one port, distinguished by the first byte, or one of the two according to the listener's
 * type.
 */
export class MixedInbound implements Inbound {
  private readonly context: InboundContext;
  private readonly forwarder: HttpForwarder;

  constructor(context: InboundContext) {
    this.context = context;
    this.forwarder = new HttpForwarder(context);
  }

  accept(socket: Socket): void {
    const deadline = setFlowTimeout(null, () => socket.destroy(), this.context.timeouts.handshake);
    const settle = (): void => clearTimeout(deadline);
    socket.once('close', settle);
    this.serve(socket, settle).catch((error: unknown) => {
      // A client that leaves during a handshake is ignored; a protocol error is logged.
      if (!(error instanceof ByteReaderError)) this.report(error);
      if (!socket.writableEnded) socket.destroy();
    });
  }

  close(): void {
    this.forwarder.close();
  }

  private async serve(socket: Socket, settle: () => void): Promise<void> {
    const reader = new ByteReader(socket, MAX_HANDSHAKE_BYTES);
    const [first] = await reader.peek(1);
    const { type } = this.context.config;
    if (first === SOCKS5_VERSION || first === SOCKS4_VERSION) {
      if (type === 'http') throw new SocksError('a SOCKS client on an HTTP listener');
      return serveSocks(this.context, socket, reader, settle);
    }
    if (type === 'socks') throw new SocksError('not a SOCKS client');
    if (await startsWithConnect(reader)) return serveConnect(this.context, socket, reader, settle);
    settle();
    this.forwarder.serve(socket, reader);
  }

  private report(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.context.logger.debug('a client was turned away', { inbound: this.context.config.name, reason: message });
  }
}

/** Reads on only while the bytes can still become the word. */
async function startsWithConnect(reader: ByteReader): Promise<boolean> {
  for (let wanted = 1; ;) {
    const bytes = await reader.peek(wanted);
    const length = Math.min(bytes.length, CONNECT.length);
    if (CONNECT.compare(bytes, 0, length, 0, length) !== 0) return false;
    if (length === CONNECT.length) return true;
    wanted = length + 1;
  }
}
