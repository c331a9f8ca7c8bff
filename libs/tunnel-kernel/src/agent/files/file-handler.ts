import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  ByteStreamDuplex,
  createHttpServer,
  guardPromise,
  serveInTurn,
  setFlowInterval,
  type ByteCounter,
} from '@gatehouse/net';
import { encodeAnswer } from '../../wire/prelude.js';
import type { FileRoot } from '../../wire/messages.js';
import type { ChannelHandler, HandlerContext, StartedChannel } from '../channel-handler.js';
import { DirectoryPages } from './directory-pages.js';
import { FileRequests } from './file-requests.js';
import { PathRefused, rootOf } from './served-path.js';

const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 65_000;
/** Time limit after the last byte of a silent visitor. */
const SILENCE_MS = 120_000;

/** Mode `file`: a directory of the agent's machine over HTTP/1.1. */
export class FileHandler implements ChannelHandler {
  private readonly context: HandlerContext;
  private readonly server: Server;
  private readonly pages = new DirectoryPages();
  private readonly roots = new WeakMap<object, FileRoot>();

  constructor(context: HandlerContext) {
    this.context = context;
    this.server = createHttpServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      insecureHTTPParser: false,
    });
    serveInTurn(this.server, {
      request: (request, response) => guardPromise(response, this.answer(request, response)),
      clientError: (_, socket) => void socket.destroy(),
    });
  }

  serve({ start, stream, reader, owner, id }: StartedChannel): Promise<void> {
    const { resources, ledger } = this.context;
    const resource = { kind: 'tunnel' as const, id: start.id };
    const root = resources.tunnel(start.id)?.tunnel.file;
    if (!root) {
      owner.refuse(resource, id, 'unknown_tunnel');
      stream.destroy();
      return Promise.resolve();
    }
    if (start.wantsAnswer) stream.write(encodeAnswer(null));
    const flow = ledger.open(resource, owner.clientId, start.visitor);
    reader?.restore();
    const connection = new ByteStreamDuplex(stream, seenFromVisitor(flow.counter));
    flow.handle = { stop: () => void connection.destroy() };
    this.roots.set(connection, root);
    connection.on('error', () => undefined);
    const silence = this.watchSilence(connection, flow.counter);
    connection.on('close', () => {
      clearInterval(silence);
      ledger.close(flow, { reason: 'client_closed' });
    });
    this.server.emit('connection', connection);
    return Promise.resolve();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const root = this.roots.get(request.socket);
    if (!root) return void response.destroy();
    try {
      const path = await rootOf(root, this.context.fileRoots);
      await new FileRequests(path, root, this.pages).answer(request, response);
    } catch (error) {
      const { status, message } = error instanceof PathRefused ? error : { status: 500, message: 'not now' };
      if (!(error instanceof PathRefused)) this.context.logger.error('a file was not served', { error: String(error) });
      response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
      response.end(`${message}\n`);
    }
  }

  /** A server that does not listen has no timer that would end silent connections. */
  private watchSilence(connection: ByteStreamDuplex, counter: Readonly<ByteCounter>): NodeJS.Timeout {
    let seen = -1;
    const look = (): void => {
      const moved = counter.upload + counter.download;
      if (moved === seen) connection.destroy();
      seen = moved;
    };
    return setFlowInterval(connection, look, SILENCE_MS).unref();
  }
}

/** The duplex counts as the connecting side; here it is the other end. */
function seenFromVisitor(counter: ByteCounter): ByteCounter {
  return {
    get upload() {
      return counter.download;
    },
    set upload(bytes) {
      counter.download = bytes;
    },
    get download() {
      return counter.upload;
    },
    set download(bytes) {
      counter.upload = bytes;
    },
  };
}
