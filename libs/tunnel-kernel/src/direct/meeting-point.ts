import type { Server, Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { ByteReader, guardPromise, PendingConnections, setFlowTimeout } from '@gatehouse/net';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import { endpoint } from '../base/endpoint.js';
import { acceptTls, pinnedContext } from '../session/accept-tls.js';
import type { PinnedServer } from '../session/pinned-tls.js';
import type { RendezvousMessage } from '../wire/messages.js';
import {
  DIRECT_PROOF_BYTES,
  DIRECT_PROTOCOL,
  directProof,
  encodeRendezvous,
  MAPPING_PROTOCOL,
  mappingProof,
  sameProof,
} from '../wire/rendezvous.js';
import { createServerIdentity } from '../wire/server-identity.js';
import { connectFrom, listenAt, resolveServer } from './own-port.js';
import { mayKnock } from './reachable.js';

const CONNECT_MS = 5000;
/** Enough for one SYN, which opens the agent's own NAT. */
const KNOCK_MS = 900;
const PROOF_MS = 5000;
/** Time limit for the visitor to connect. */
const WAIT_MS = 10_000;
/**
 * Connections that have not proved themselves, counted separately for the address that the server named and for all
 * others. The oldest are closed first, so that nobody can keep the visitor out by connecting earlier.
 */
const STRANGERS = { max: 16, maxPerSource: 4, timeoutMs: PROOF_MS };

export interface MeetingPointOptions {
  server: HostAndPort;
  pinned: PinnedServer;
  logger: TunnelLogger;
}

/**
 * The agent's end of an attempt: shows the server its address, and waits there for the visitor that knows the token.
 */
export class MeetingPoint {
  private readonly options: MeetingPointOptions;
  private readonly message: RendezvousMessage;
  private readonly token: Buffer;
  private readonly expected = new PendingConnections<TLSSocket>({ ...STRANGERS, maxPerSource: STRANGERS.max });
  private readonly others = new PendingConnections<TLSSocket>(STRANGERS);
  private readonly identity = createServerIdentity();
  private readonly secureContext: SecureContext;
  private readonly met = Promise.withResolvers<TLSSocket>();
  private mapping: TLSSocket | null = null;
  private listener: Server | null = null;
  private closed = false;

  constructor(message: RendezvousMessage, options: MeetingPointOptions) {
    this.message = message;
    this.options = options;
    this.token = Buffer.from(message.token, 'base64url');
    this.secureContext = pinnedContext(this.identity);
  }

  /** The connection to the visitor, paused, proved by both sides. @throws TunnelError if none came. */
  async meet(): Promise<TLSSocket> {
    const timer = setFlowTimeout(
      null,
      () => this.fail(new TunnelError('timeout', 'no visitor came')),
      CONNECT_MS + WAIT_MS,
    );
    try {
      // Fails with whichever fails first.
      return await Promise.race([this.met.promise, this.open().then(() => this.met.promise)]);
    } finally {
      clearTimeout(timer);
      this.close();
    }
  }

  /** Gives up the attempt. */
  fail(error: TunnelError): void {
    this.met.reject(error);
    this.close();
  }

  private async open(): Promise<void> {
    const { server, pinned } = this.options;
    const address = await resolveServer(server);
    const socket = await connectFrom(0, address, CONNECT_MS);
    const local = endpoint(socket.localAddress, socket.localPort);
    this.mapping = await pinned.secure(socket, MAPPING_PROTOCOL, CONNECT_MS);
    this.mapping.on('error', () => undefined);
    if (this.closed) return this.close();
    // Done before the port listens: afterwards the system allows no outgoing connection from it.
    this.knock(local.port, local.address);
    this.listener = await listenAt(local.port, address.host, (one) => guardPromise(one, this.receive(one)));
    if (this.closed) return this.close();
    const { fingerprint } = this.identity;
    const said = { id: this.message.id, local, fingerprint };
    this.mapping.write(encodeRendezvous({ ...said, proof: mappingProof(this.token, said) }));
    this.mapping.resume();
  }

  private knock(port: number, own: string): void {
    const { address, port: theirs } = this.message.visitor;
    if (!mayKnock(address, own)) return;
    connectFrom(port, { host: address, port: theirs }, KNOCK_MS).then(
      // Both sides connected at once (RFC 9293 3.5): the result is as good as an accepted connection.
      (socket) => guardPromise(socket, this.receive(socket)),
      () => undefined,
    );
  }

  private async receive(socket: Socket): Promise<void> {
    if (this.closed) return void socket.destroy();
    const { visitor } = this.message;
    const strangers = endpoint(socket.remoteAddress).address === visitor.address ? this.expected : this.others;
    const stream = acceptTls(socket, this.secureContext, {
      protocols: [DIRECT_PROTOCOL],
      onError: ({ message: error }) => this.options.logger.debug('a direct connection failed', { error }),
    });
    strangers.add(stream, stream, undefined, socket.remoteAddress);
    stream.on('close', () => strangers.delete(stream));
    try {
      await this.prove(stream);
      strangers.delete(stream);
      this.met.resolve(stream);
    } catch (error) {
      this.options.logger.debug('a direct connection was refused', { error: String(error) });
      stream.destroy();
    }
  }

  /** @throws TunnelError, ByteReaderError. */
  private async prove(stream: TLSSocket): Promise<void> {
    const reader = new ByteReader(stream, DIRECT_PROOF_BYTES);
    const proof = await reader.read(DIRECT_PROOF_BYTES);
    if (stream.alpnProtocol !== DIRECT_PROTOCOL || !sameProof(proof, directProof(this.token, 'visitor', stream))) {
      throw new TunnelError('unauthorized', 'the visitor does not know the token');
    }
    if (this.closed) throw new TunnelError('stopped', 'another connection was quicker');
    reader.restore();
    // One is enough: the others are closed before this one is read.
    this.closed = true;
    stream.write(directProof(this.token, 'agent', stream));
  }

  private close(): void {
    this.closed = true;
    this.listener?.close();
    this.mapping?.destroy();
    this.expected.destroy();
    this.others.destroy();
  }
}
