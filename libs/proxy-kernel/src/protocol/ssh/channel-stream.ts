import { guardFlow, StreamEmitter, type ByteStream } from '@gatehouse/net';
import type { ClientChannel } from 'ssh2';

/**
 * A channel that closes as soon as it is asked to. The library would close it only after the server has agreed and all
 * data was read. Its windows bound what waits in either direction.
 */
export class ChannelStream extends StreamEmitter implements ByteStream {
  private readonly channel: ClientChannel;
  destroyed = false;

  constructor(channel: ClientChannel) {
    super();
    this.channel = guardFlow(channel);
    // Adding a listener would start the flow of data.
    channel.pause();
    channel.on('data', (chunk: Buffer) => this.destroyed || this.emit('data', chunk));
    channel.on('end', () => this.destroyed || this.emit('end'));
    channel.on('drain', () => this.destroyed || this.emit('drain'));
    // Without a listener an `error` event would end the process.
    channel.on('error', (error: Error) => {
      if (!this.destroyed && this.listenerCount('error') > 0) this.emit('error', error);
    });
    channel.on('close', () => this.close());
  }

  get readableEnded(): boolean {
    return this.channel.readableEnded;
  }

  get writableLength(): number {
    return this.destroyed ? 0 : this.channel.writableLength;
  }

  write(chunk: Uint8Array): boolean {
    return !this.destroyed && this.channel.writable && this.channel.write(chunk);
  }

  end(): void {
    this.channel.end();
  }

  pause(): void {
    if (!this.destroyed) this.channel.pause();
  }

  resume(): void {
    this.channel.resume();
  }

  unshift(chunk: Uint8Array): void {
    this.channel.unshift(chunk);
  }

  cork(): void {
    this.channel.cork();
  }

  uncork(): void {
    this.channel.uncork();
  }

  destroy(): void {
    if (this.destroyed) return;
    this.close();
    this.channel.destroy();
    // The rest must be read, or the channel stays open.
    this.channel.resume();
  }

  private close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    process.nextTick(() => this.emit('close'));
  }
}
