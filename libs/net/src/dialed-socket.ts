import { Socket } from 'node:net';
import { flowEmit } from './flow-boundary.js';
import { deliverTo, ReadMemory } from './read-memory.js';
import { releaseListenersOnClose } from './release-listeners.js';

/**
 * An outgoing TCP socket that reuses its read buffer: about 30 % less CPU per byte than a new buffer for each read. To its
 * listeners it is a socket like any other. A listener that calls `release()` inside a `data` event promises that it kept
 * no part of the chunk; only then is the memory used for the next read.
 *
 * A quiet socket has 8 KiB. One that fills them reads 64 and then 256 KiB at a time, until a short read ends the burst.
 */
export class DialedSocket extends Socket {
  readonly copiesWrites = true;
  private readonly memory: ReadMemory;
  private dialed: { readonly address: string; readonly port: number } | null = null;

  constructor() {
    const memory: ReadMemory = new ReadMemory((chunk) => deliverTo(this, chunk));
    super({
      allowHalfOpen: true,
      onread: { buffer: () => memory.nextBuffer(), callback: (bytes: number) => memory.received(bytes) },
    });
    this.memory = memory;
    this.on('close', () => memory.recycle());
    releaseListenersOnClose(this);
  }

  /** Connects to an address that is not a name. It is `remoteAddress` from then on, also after the socket has closed. */
  connectTo(address: string, port: number): void {
    this.dialed = { address, port };
    this.connect({ host: address, port });
  }

  release(): void {
    this.memory.release();
  }
}

DialedSocket.prototype.emit = flowEmit;

// Node asks the system for both, which costs several microseconds for each connection. Its types have them as properties, so
// the class cannot declare accessors of these names.
const ofNode = Object.getOwnPropertyDescriptors(Socket.prototype);
Object.defineProperties(DialedSocket.prototype, {
  remoteAddress: {
    get(this: DialedSocket): unknown {
      return this['dialed']?.address ?? ofNode.remoteAddress.get?.call(this);
    },
  },
  remotePort: {
    get(this: DialedSocket): unknown {
      return this['dialed']?.port ?? ofNode.remotePort.get?.call(this);
    },
  },
});
