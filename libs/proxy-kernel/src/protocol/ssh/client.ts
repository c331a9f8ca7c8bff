import type { Client, ClientChannel, ConnectConfig } from 'ssh2';
import { guarded, guardFlow, type ByteStream } from '@gatehouse/net';
import { DialError, type DialContext, type ErrorKind, type Target } from '../../interfaces/index.js';
import { abortError, toDialError } from '../../transport/dial-error.js';
import { toDuplex } from '../../transport/tls.js';
import { ChannelStream } from './channel-stream.js';
import type { SshOptions } from './options.js';
import { EncodedStream } from '../../transport/encoded-stream.js';

const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVES_UNANSWERED = 3;
const READY_TIMEOUT_MS = 10_000;
/** RFC 4254 5.1. */
const CONNECT_FAILED = 2;
const LOST = 'the server closed the connection';

/** An authenticated connection with an SSH server. */
export class SshClient {
  private readonly client: Client;
  private readonly below: ByteStream;
  /** Channels that are open or being opened. */
  channels = 0;
  closed = false;

  private constructor(client: Client, below: ByteStream) {
    this.client = client;
    this.below = below;
  }

  /** @param below the stream to the server. @throws DialError; the signal's reason when it is aborted. */
  static async open(below: ByteStream, options: SshOptions, signal: AbortSignal): Promise<SshClient> {
    // Imported on demand, so that only users of such nodes load the library.
    const ssh2 = await import('ssh2');
    const client = guardFlow(new ssh2.Client());
    // Each channel that is being opened listens for the end of the connection.
    client.setMaxListeners(0);
    const opened = new SshClient(client, below);
    client.on('close', () => (opened.closed = true));
    client.on('error', () => (opened.closed = true));
    try {
      await signIn(client, below, options, signal);
    } catch (error) {
      client.destroy();
      below.destroy();
      throw error;
    }
    return opened;
  }

  onClose(listener: () => void): void {
    this.client.once('close', listener);
  }

  /** Opens a channel to the target (RFC 4254 7.2). `ended` is called once, however it ends. @throws DialError. */
  connect({ host, port }: Target, { signal }: DialContext, ended: () => void): Promise<ByteStream> {
    this.channels += 1;
    let open = true;
    const over = (): void => {
      this.client.off('close', over);
      if (!open) return;
      open = false;
      this.channels -= 1;
      ended();
    };
    return new Promise((resolve, reject) => {
      const give = (error: unknown): void => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      };
      const onAbort = (): void => give(abortError(signal));
      const onGone = (): void => give(new DialError('handshake', 'connection_reset', LOST));
      const onAnswer = guarded(null, (error: Error | undefined, channel: ClientChannel): void => {
        this.client.off('close', onGone);
        if (error) {
          over();
          return give(channelError(error));
        }
        const stream = new SshStream(new ChannelStream(channel), this.below);
        // Otherwise the channel would end as if the target had ended it.
        const onLost = (): void => stream.destroy(new DialError('relay', 'connection_reset', LOST));
        this.client.off('close', over).once('close', onLost);
        stream.once('close', () => this.client.off('close', onLost));
        stream.once('close', over);
        if (signal.aborted) stream.destroy();
        signal.removeEventListener('abort', onAbort);
        resolve(stream);
      });
      signal.addEventListener('abort', onAbort, { once: true });
      this.client.once('close', onGone).once('close', over);
      try {
        this.client.forwardOut('127.0.0.1', 0, host, port, onAnswer);
      } catch (error) {
        over();
        give(toDialError(error, 'handshake'));
      }
      if (signal.aborted) onAbort();
    });
  }

  close(): void {
    this.closed = true;
    this.client.end();
    this.below.destroy();
  }
}

function signIn(client: Client, below: ByteStream, options: SshOptions, signal: AbortSignal): Promise<void> {
  const { username, password, privateKey, passphrase, hostKeyAlgorithms } = options;
  const duplex = toDuplex(below);
  const config: ConnectConfig = {
    sock: duplex,
    username,
    ...(password === undefined ? {} : { password, tryKeyboard: true }),
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(passphrase === undefined ? {} : { passphrase }),
    hostVerifier: (key: Buffer) => options.accepts(key),
    readyTimeout: READY_TIMEOUT_MS,
    keepaliveInterval: KEEP_ALIVE_MS,
    keepaliveCountMax: KEEP_ALIVES_UNANSWERED,
  };
  if (hostKeyAlgorithms.length > 0) {
    config.algorithms = {
      serverHostKey: hostKeyAlgorithms as NonNullable<ConnectConfig['algorithms']>['serverHostKey'] & [],
    };
  }
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortError(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    const settle = (error?: unknown): void => {
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) resolve();
      else reject(error);
    };
    client.once('ready', () => settle());
    client.once('error', (error) => settle(clientError(error)));
    client.once('close', () => settle(new DialError('handshake', 'connection_reset', LOST)));
    // Servers with keyboard-interactive login ask for the password.
    client.on('keyboard-interactive', (_name, _text, _language, prompts, finish) =>
      finish(prompts.map(() => password ?? '')),
    );
    try {
      client.connect(config);
    } catch (error) {
      return settle(new DialError('handshake', 'auth_failed', (error as Error).message, { cause: error }));
    }
    duplex.once('end', () => duplex.destroy());
    duplex.resume();
    if (signal.aborted) onAbort();
  });
}

function clientError(error: Error & { level?: string }): DialError {
  const { level, message } = error;
  if (level === 'client-authentication') {
    return new DialError('handshake', 'auth_failed', 'the server refused user, password or key', { cause: error });
  }
  if (level === 'client-timeout') return new DialError('dial', 'timeout', message, { cause: error });
  if (message.includes('Host denied')) {
    return new DialError('handshake', 'auth_failed', "the server's key is not the one of the node", { cause: error });
  }
  const dialError = toDialError(error, 'handshake');
  if (dialError.kind !== 'other') return dialError;
  return new DialError('handshake', 'protocol_error', message, { cause: error });
}

/** The server's answer about the target. */
function channelError(error: Error & { reason?: number | string }): DialError {
  const kind: ErrorKind =
    error.reason === CONNECT_FAILED || error.reason === 'CONNECT_FAILED' ? 'unreachable' : 'other';
  return new DialError('handshake', kind, error.message, { cause: error });
}

/** A channel with the remote address of its server. */
class SshStream extends EncodedStream {
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
