import type { VmessNode } from '@gatehouse/contracts';
import type { ByteStream } from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type Outbound,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import { createCarrier } from '../../transport/carrier.js';
import { PrologueStream } from '../../transport/prologue-stream.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { TargetPackets } from '../target-packets.js';
import { COMMAND, createAccount, type Account, type Security } from './header.js';
import { VmessChannel } from './packets.js';
import { VmessSession } from './session.js';
import { VmessStream, toDialError } from './stream.js';
import type { Carrier } from '../../transport/node-server.js';

/** Clash's names for the protection of the body. `zero`: neither sealed nor framed. */
const SECURITIES: Readonly<Record<string, Security>> = {
  auto: 'aes-128-gcm',
  'aes-128-gcm': 'aes-128-gcm',
  'chacha20-poly1305': 'chacha20-poly1305',
  none: 'none',
  zero: 'none',
};

/** Whether a node's `cipher` is one of those. */
export function isEmbeddedSecurity(cipher: string): boolean {
  return Object.hasOwn(SECURITIES, cipher);
}

/** A VMess server with AEAD headers (alterId 0), TCP and UDP. */
export class VmessOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'vmess';
  readonly udp: boolean;
  private readonly carrier: Carrier;
  private readonly account: Account;
  private readonly security: Security;
  private readonly bare: boolean;

  /** @param id the 16 bytes of the user's id. */
  constructor(tag: string, node: VmessNode, id: Buffer, dialer: ServerDialer) {
    this.tag = tag;
    this.udp = node.udp ?? true;
    this.carrier = createCarrier(node, dialer);
    this.account = createAccount(id);
    this.security = SECURITIES[node.cipher] ?? 'aes-128-gcm';
    this.bare = node.cipher === 'zero';
  }

  async connect(target: Target, context: DialContext): Promise<ByteStream> {
    const session = new VmessSession(this.account, COMMAND.tcp, target, this.security, !this.bare);
    const stream = await this.open(session, context);
    return this.bare ? stream : new VmessStream(stream, session);
  }

  openPackets(_context: DialContext): Promise<PacketConnection> {
    if (!this.udp) return Promise.reject(new DialError('route', 'other', `${this.tag} carries no UDP`));
    const packets = new TargetPackets(async (target, signal) => {
      // Datagrams need chunks, whatever the node's setting for streams is.
      const session = new VmessSession(this.account, COMMAND.udp, target, this.security);
      return new VmessChannel(await this.open(session, { signal }), session);
    });
    return Promise.resolve(packets);
  }

  close(): void {
    this.carrier.close();
  }

  private async open(session: VmessSession, context: DialContext): Promise<ByteStream> {
    const answerLength = (bytes: Buffer): number => {
      try {
        return session.answerLength(bytes);
      } catch (error) {
        throw toDialError(error);
      }
    };
    return new PrologueStream(await this.carrier.connect(context), session.head, answerLength);
  }
}
