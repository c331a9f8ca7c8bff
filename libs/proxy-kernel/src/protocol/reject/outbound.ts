import type { ByteStream } from '@gatehouse/net';
import { RejectedError, type Outbound, type PacketConnection } from '../../interfaces/index.js';

/** Refuses everything, with an answer (`REJECT`) or without one (`REJECT-DROP`). */
export class RejectOutbound implements Outbound {
  readonly tag: string;
  readonly type: 'reject' | 'reject-drop';
  readonly udp = true;

  constructor(tag: string, drop: boolean) {
    this.tag = tag;
    this.type = drop ? 'reject-drop' : 'reject';
  }

  connect(): Promise<ByteStream> {
    return Promise.reject(new RejectedError(this.type === 'reject-drop'));
  }

  openPackets(): Promise<PacketConnection> {
    return Promise.reject(new RejectedError(this.type === 'reject-drop'));
  }
}
