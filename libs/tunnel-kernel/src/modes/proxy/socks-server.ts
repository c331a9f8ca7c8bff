import {
  encodeSocksReply,
  resetStream,
  SOCKS_COMMAND,
  SOCKS_REPLY,
  type ByteReader,
  type SocksReply,
} from '@gatehouse/net';
import type { HostAndPort } from '../../environment.js';
import { TargetError, TunnelError } from '../../errors.js';
import { relayFlow } from '../../relay-flow.js';
import type { AdmittedSocket } from '../admission.js';
import type { ModeContext } from '../mode.js';
import { reachDestination } from './reach-destination.js';
import { readSocksRequest, replyTo, type PasswordCheck, type SocksRequest } from './socks5.js';
import { UdpAssociation } from './udp-association.js';

/** A SOCKS5 server for visitors. The agent connects to the destinations. */
export class SocksServer {
  private readonly context: ModeContext;

  constructor(context: ModeContext) {
    this.context = context;
  }

  /** `ready` is called when the request was read; until then the caller's time limit applies. */
  async serve(visitor: AdmittedSocket, reader: ByteReader, ready: () => void): Promise<void> {
    const { socket } = visitor;
    const request = await readSocksRequest(reader, socket, await this.passwordCheck(visitor));
    ready();
    if (!request) return socket.destroySoon();
    const reply = this.objection(request);
    if (reply !== null) return this.refuse(visitor, reply);
    if (request.command === SOCKS_COMMAND.associate) {
      reader.detach();
      return new UdpAssociation(this.context, visitor).start();
    }
    if (request.destination) await this.connect(visitor, reader, request.destination);
  }

  /** Null: no password is needed, because the tunnel has no policy or the visitor's address was already verified. */
  private async passwordCheck({ resource, clientId, visitor }: AdmittedSocket): Promise<PasswordCheck | null> {
    const { verifier } = this.context;
    if (!verifier.guards(resource, clientId) || (await verifier.allows(resource, clientId, visitor))) return null;
    return (user, password) => verifier.checkPassword(resource, clientId, user, password, visitor);
  }

  private objection({ command, destination }: SocksRequest): SocksReply | null {
    if (command === SOCKS_COMMAND.associate) return null;
    if (command !== SOCKS_COMMAND.connect) return SOCKS_REPLY.commandNotSupported;
    if (!destination) return SOCKS_REPLY.addressTypeNotSupported;
    return destination.port === 0 ? SOCKS_REPLY.failure : null;
  }

  private async connect(visitor: AdmittedSocket, reader: ByteReader, destination: HostAndPort): Promise<void> {
    const { socket } = visitor;
    try {
      const stream = await reachDestination(this.context, visitor, destination);
      if (socket.destroyed) return resetStream(stream);
      socket.write(encodeSocksReply(SOCKS_REPLY.succeeded));
      const options = { head: reader.detach(), throttle: visitor.throttle() };
      relayFlow(this.context.ledger, visitor, [socket, stream], options);
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.refuse(visitor, error instanceof TargetError ? replyTo(error.reason) : SOCKS_REPLY.failure);
    }
  }

  private refuse({ socket }: AdmittedSocket, reply: SocksReply): void {
    socket.end(encodeSocksReply(reply));
    socket.destroySoon();
  }
}
