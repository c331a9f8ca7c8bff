import type { ShadowsocksNode } from '@gatehouse/contracts';
import { encodeSocksAddress, type ByteStream } from '@gatehouse/net';
import {
  DialError,
  type DialContext,
  type Outbound,
  type PacketConnection,
  type Target,
} from '../../interfaces/index.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { parseKeys2022 } from '../shadowsocks-2022/cipher.js';
import { Datagrams2022 } from '../shadowsocks-2022/datagrams.js';
import { session2022 } from '../shadowsocks-2022/session.js';
import { UdpOverTcpPackets, udpOverTcpTarget, type UdpOverTcpVersion } from '../udp-over-tcp/packets.js';
import { aeadMethod, masterKey } from './cipher.js';
import { aeadDatagrams, type DatagramCodec } from './codec.js';
import { ShadowsocksPackets } from './packets.js';
import { createPluginCarrier } from './plugin.js';
import { ShadowsocksStream, aeadSession, type ShadowsocksSession } from './stream.js';
import type { Carrier } from '../../transport/node-server.js';

/** Clash's default version; servers of version 2 accept it, too. */
const UDP_OVER_TCP: UdpOverTcpVersion = 1;

/** The differences between the editions of the protocol. */
interface Edition {
  session(target: Target): ShadowsocksSession;
  datagrams(): DatagramCodec;
}

/** A Shadowsocks server of SIP004 (AEAD) or SIP022 (2022), TCP and UDP. */
export class ShadowsocksOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'ss';
  private readonly node: ShadowsocksNode;
  private readonly dialer: ServerDialer;
  private readonly carrier: Carrier;
  private readonly edition: Edition;

  constructor(tag: string, node: ShadowsocksNode, dialer: ServerDialer) {
    this.tag = tag;
    this.node = node;
    this.dialer = dialer;
    this.carrier = createPluginCarrier(node, dialer);
    this.edition = editionOf(node);
  }

  /** Behind a plugin only if the node says so, because few of those servers accept datagrams. */
  get udp(): boolean {
    if (this.node.udpOverTcp) return this.node.udp ?? true;
    return (this.node.udp ?? this.node.plugin === undefined) && this.dialer.udp;
  }

  async connect(target: Target, context: DialContext): Promise<ByteStream> {
    const stream = await this.carrier.connect(context);
    return new ShadowsocksStream(stream, this.edition.session(target));
  }

  async openPackets(context: DialContext): Promise<PacketConnection> {
    if (!this.udp) throw new DialError('route', 'other', `${this.tag} carries no UDP`);
    if (this.node.udpOverTcp) {
      return new UdpOverTcpPackets(await this.connect(udpOverTcpTarget(UDP_OVER_TCP), context));
    }
    const { server, port } = this.node;
    const packets = await this.dialer.openPackets(server, port, context);
    return new ShadowsocksPackets(this.edition.datagrams(), packets);
  }
}

/** @throws RangeError for an unsupported cipher. */
function editionOf({ cipher, password }: ShadowsocksNode): Edition {
  const keys2022 = parseKeys2022(cipher, password);
  if (keys2022) {
    return {
      session: (target) => session2022(keys2022, encodeSocksAddress(target)),
      datagrams: () => new Datagrams2022(keys2022),
    };
  }
  const method = aeadMethod(cipher);
  const keys = { method, master: masterKey(password, method.keyLength) };
  return {
    session: (target) => aeadSession(keys, encodeSocksAddress(target)),
    datagrams: () => aeadDatagrams(method, keys.master),
  };
}
