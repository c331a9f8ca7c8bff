import type { ByteStream } from '@gatehouse/net';
import { LayeredStream } from '../../transport/layered-stream.js';

/** A channel as an outbound's stream, which its server's address belongs to. */
export class SshStream extends LayeredStream {
  private readonly below: Pick<ByteStream, 'remoteAddress' | 'remotePort'>;

  constructor(channel: ByteStream, below: Pick<ByteStream, 'remoteAddress' | 'remotePort'>) {
    super(channel);
    this.below = below;
  }

  override get remoteAddress(): string | undefined {
    return this.below.remoteAddress;
  }

  override get remotePort(): number | undefined {
    return this.below.remotePort;
  }

  protected override encode(chunk: Uint8Array): void {
    this.put(chunk);
  }

  protected override decode(bytes: Buffer): void {
    this.give(bytes);
  }
}
