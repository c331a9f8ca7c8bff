import type { TLSSocket } from 'node:tls';
import type { ByteStream } from '@gatehouse/net';
import { setFlowInterval, setFlowTimeout } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import { MuxConnection } from '../mux/mux-connection.js';
import { DirectTransport } from './direct-transport.js';
import { HEARTBEAT_MS, SILENT_MS, STREAM_KIND } from './streams.js';

/** An established direct path, at the visitor. */
export class VisitorPath {
  readonly address: string;
  private readonly mux: MuxConnection;
  private readonly beat: NodeJS.Timeout;
  private retired = false;

  constructor(stream: TLSSocket, onClose: (error: TunnelError) => void) {
    this.address = stream.remoteAddress ?? '';
    this.mux = new MuxConnection(new DirectTransport(stream, SILENT_MS), {
      onClose: (error) => {
        clearInterval(this.beat);
        onClose(error);
      },
    });
    this.beat = this.keepAlive();
  }

  get isOpen(): boolean {
    return !this.mux.isClosed && !this.retired;
  }

  /** Opens a connection to the target. @throws TunnelError if the path is over. */
  open(): ByteStream {
    if (!this.isOpen) throw new TunnelError('connection', 'the direct path is over');
    const stream = this.mux.open();
    stream.write(Buffer.of(STREAM_KIND.connection));
    return stream;
  }

  /** Running connections may continue for `graceMs`. */
  retire(graceMs: number): void {
    if (this.retired) return;
    this.retired = true;
    setFlowTimeout(this.mux, () => this.mux.destroy(), graceMs).unref();
  }

  close(): void {
    this.mux.destroy();
  }

  private keepAlive(): NodeJS.Timeout {
    const heartbeat = Buffer.of(STREAM_KIND.heartbeat);
    if (this.mux.isClosed) return setFlowTimeout(null, () => undefined, 0);
    const stream = this.mux.open();
    stream.resume();
    stream.write(heartbeat);
    return setFlowInterval(this.mux, () => void (stream.isEmpty && stream.write(heartbeat)), HEARTBEAT_MS);
  }
}
