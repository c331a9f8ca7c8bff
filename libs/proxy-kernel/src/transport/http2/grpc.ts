import type { IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import type { NodeTransport } from '@gatehouse/contracts';
import { formatAuthority } from '@gatehouse/net';
import { DialError, type DialContext } from '../../interfaces/index.js';
import { requestTarget } from '../http-upgrade.js';
import type { NodeServer, Carrier } from '../node-server.js';
import type { ServerDialer } from '../server-dialer.js';
import { GrpcFrameDecoder, messageHead } from './grpc-frame.js';
import { SessionPool, type PooledStream } from './session-pool.js';
import { Http2Stream, checkStatus } from './stream.js';

/** The `gun` transport: the stream is the messages of one gRPC call. The server answers with its first bytes only. */
export function createGrpcCarrier(
  node: NodeServer,
  { serviceName, authority }: Extract<NodeTransport, { type: 'grpc' }>,
  dialer: ServerDialer,
): Carrier {
  const pool = new SessionPool(node, dialer);
  const headers = {
    ':method': 'POST',
    ':scheme': node.tls ? 'https' : 'http',
    ':path': callPath(serviceName),
    ':authority': authority || (node.tls?.sni ?? formatAuthority(node.server, node.port, node.tls !== undefined)),
    'content-type': 'application/grpc',
    'user-agent': 'grpc-go/1.68.0',
    te: 'trailers',
  };
  const connect = async (context: DialContext): Promise<GrpcStream> =>
    new GrpcStream(await pool.request(headers, context));
  return { connect, close: () => pool.close() };
}

/**
 * `name` means `/name/Tun`. A leading slash makes it a full path, whose last part is `tun
 * tunMulti` (Xray).
 */
function callPath(serviceName: string): string {
  if (!serviceName.startsWith('/')) return `/${encodeURIComponent(serviceName)}/Tun`;
  const slash = serviceName.lastIndexOf('/');
  const [call = ''] = serviceName.slice(slash + 1).split('|');
  return requestTarget(`${serviceName.slice(0, slash)}/${call}`);
}

class GrpcStream extends Http2Stream {
  private readonly decoder = new GrpcFrameDecoder((piece) => this.give(piece));
  private status: string | undefined;

  constructor(pooled: PooledStream) {
    super(pooled);
    this.request.once('response', (headers) => this.answered(headers));
    this.request.once('trailers', (headers) => this.keepStatus(headers));
  }

  protected override encode(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.put(messageHead(chunk.length));
    this.put(chunk);
  }

  protected override decode(bytes: Buffer): void {
    this.decoder.push(bytes);
  }

  protected override checkEnd(): Error | null {
    const wrong = super.checkEnd();
    if (wrong) return wrong;
    if (this.status !== undefined && this.status !== '0') {
      return new DialError('handshake', 'other', `the server ended the call with status ${this.status}`);
    }
    return this.decoder.atBoundary
      ? null
      : new DialError('relay', 'protocol_error', 'the stream ended inside a message');
  }

  private answered(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    try {
      checkStatus(headers);
      this.keepStatus(headers);
    } catch (error) {
      this.destroy(error instanceof Error ? error : undefined);
    }
  }

  private keepStatus(headers: IncomingHttpHeaders): void {
    const status = headers['grpc-status'];
    if (typeof status === 'string') this.status = status;
  }
}
