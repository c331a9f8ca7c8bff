import { setFlowTimeout, type ByteStream } from '@gatehouse/net';
import { DialError } from '../../interfaces/index.js';
import { COMMAND, FrameDecoder, MAX_CONTENT, frame, frameHeader, readSettings } from './frame.js';
import { PacketWriter } from './packet-writer.js';
import { PaddingScheme } from './padding.js';

/** A server with version 2 confirms a stream of a reused session within this time. */
const CONFIRM_MS = 3000;
/** The part of a server's text that our messages contain. */
const MAX_TEXT = 200;

/** The stream that uses the session at the moment. */
export interface AttachedStream {
  data(piece: Buffer): void;
  /** The server has ended the stream. */
  finished(): void;
  drained(): void;
  failed(error: Error): void;
}

export interface SessionOptions {
  password: string;
  /** The present scheme of this server, which a server may replace. */
  padding: { scheme: PaddingScheme };
  /** Called when the session has no stream and can be reused. */
  onIdle(session: AnyTlsSession): void;
  onClose(session: AnyTlsSession): void;
}

/**
 * One TLS connection. It carries one stream at a time, so that a slow stream cannot hold up another, and is then
 * reused.
 */
export class AnyTlsSession {
  readonly stream: ByteStream;
  private readonly options: SessionOptions;
  private readonly writer: PacketWriter;
  private attached: AttachedStream | null = null;
  private streamId = 0;
  private begun = false;
  private serverVersion = 1;
  private confirming: NodeJS.Timeout | null = null;
  private closed = false;

  /** @param stream TLS to the server, paused. */
  constructor(stream: ByteStream, options: SessionOptions) {
    this.stream = stream;
    this.options = options;
    this.writer = new PacketWriter(stream, () => options.padding.scheme);
    const decoder = new FrameDecoder({
      data: (id, piece) => id === this.streamId && this.attached?.data(piece),
      command: (command, id, content) => this.command(command, id, content),
    });
    stream.on('data', (bytes) => decoder.push(bytes));
    stream.on('drain', () => this.attached?.drained());
    stream.on('error', (error) => this.close(error));
    stream.on('end', () => this.close());
    stream.on('close', () => this.close());
    this.writer.authenticate(options.password);
  }

  get usable(): boolean {
    return !this.closed && this.attached === null;
  }

  get writableLength(): number {
    return this.stream.writableLength;
  }

  attach(stream: AttachedStream): void {
    this.attached = stream;
    this.streamId += 1;
    this.begun = false;
  }

  /** Writes for the attached stream; the first chunk opens it. False: wait for `drained`. */
  write(chunk: Uint8Array): boolean {
    let room = true;
    let front = this.opening();
    for (let at = 0; at < chunk.length; at += MAX_CONTENT) {
      const content = chunk.subarray(at, at + MAX_CONTENT);
      room = this.writer.write([...front, frameHeader(COMMAND.push, this.streamId, content.length), content]);
      front = [];
    }
    return room;
  }

  /** Detaches the stream; later data of the server for it is dropped. */
  detach(): void {
    if (this.attached === null) return;
    this.attached = null;
    this.settleConfirmation();
    if (this.closed) return;
    if (this.begun) this.writer.write([frame(COMMAND.finish, this.streamId)]);
    this.stream.resume();
    this.options.onIdle(this);
  }

  close(error?: Error): void {
    if (this.closed) return;
    this.closed = true;
    this.settleConfirmation();
    this.stream.destroy();
    const { attached } = this;
    this.attached = null;
    attached?.failed(error ?? new DialError('relay', 'connection_reset', 'the server closed the session'));
    this.options.onClose(this);
  }

  private opening(): Buffer[] {
    if (this.begun) return [];
    this.begun = true;
    const first = this.streamId === 1;
    if (!first && this.serverVersion >= 2) {
      const late = new DialError('relay', 'timeout', 'the session is dead');
      this.confirming = setFlowTimeout(this.stream, () => this.close(late), CONFIRM_MS);
    }
    const settings = `v=2\nclient=gatehouse\npadding-md5=${this.options.padding.scheme.md5}`;
    const introduction = first ? [frame(COMMAND.settings, 0, Buffer.from(settings))] : [];
    return [...introduction, frame(COMMAND.open, this.streamId)];
  }

  private command(command: number, id: number, content: Buffer): void {
    if (command === COMMAND.finish) this.finished(id);
    else if (command === COMMAND.opened) this.opened(id, content);
    else if (command === COMMAND.paddingScheme) {
      const { padding } = this.options;
      padding.scheme = PaddingScheme.parse(content.toString('utf8')) ?? padding.scheme;
    } else if (command === COMMAND.serverSettings) this.serverVersion = Number(readSettings(content).get('v') ?? 1);
    else if (command === COMMAND.heartRequest) this.writer.write([frame(COMMAND.heartResponse, id)]);
    else if (command === COMMAND.alert) {
      this.close(new DialError('relay', 'protocol_error', `the server ended the session: ${printable(content)}`));
    }
  }

  private finished(id: number): void {
    if (id === this.streamId) this.attached?.finished();
  }

  /** A text in the answer is the server's reason why it could not reach the target. */
  private opened(id: number, content: Buffer): void {
    if (id !== this.streamId) return;
    this.settleConfirmation();
    if (content.length === 0) return;
    const { attached } = this;
    this.detach();
    attached?.failed(new DialError('handshake', 'other', `the server could not connect: ${printable(content)}`));
  }

  private settleConfirmation(): void {
    if (this.confirming) clearTimeout(this.confirming);
    this.confirming = null;
  }
}

function printable(content: Buffer): string {
  // oxlint-disable-next-line no-control-regex
  return content.toString('utf8', 0, MAX_TEXT).replaceAll(/[\u0000-\u001f\u007f]/g, ' ');
}
