import type { OtherNode } from '@gatehouse/contracts';
import { setFlowTimeout, type ByteStream } from '@gatehouse/net';
import { DialError, type DialContext, type Target } from '../../interfaces/index.js';
import { abortError } from '../../transport/dial-error.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { unlessAborted } from '../../transport/unless-aborted.js';
import { SshClient } from './client.js';
import { sshOptions, type SshOptions } from './options.js';

const MAX_CHANNELS = 256;
const OPEN_TIMEOUT_MS = 15_000;
const IDLE_CLOSE_MS = 60_000;

/** The connection to a server, which all flows share. A lost one is replaced. */
export class SshClientPool {
  private readonly node: OtherNode;
  private readonly dialer: ServerDialer;
  private readonly options: SshOptions;
  private readonly clients = new Set<SshClient>();
  private shared: SshClient | null = null;
  private opening: Promise<SshClient> | null = null;
  private idle: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(node: OtherNode, dialer: ServerDialer) {
    this.node = node;
    this.dialer = dialer;
    this.options = sshOptions(node);
  }

  /** @throws DialError; the signal's reason when it is aborted. */
  async connect(target: Target, context: DialContext): Promise<ByteStream> {
    if (context.signal.aborted) throw abortError(context.signal);
    // A chain may lead elsewhere at the next dial, so each of its flows has its own connection.
    const client = this.dialer.direct ? await this.sharedClient(context) : await this.open(context);
    context.onStage?.('greeting');
    if (client.channels >= MAX_CHANNELS) {
      throw new DialError('dial', 'other', `more than ${MAX_CHANNELS} flows through the server`);
    }
    if (this.idle) clearTimeout(this.idle);
    return client.connect(target, context, () => this.channelEnded(client));
  }

  close(): void {
    this.closed = true;
    if (this.idle) clearTimeout(this.idle);
    for (const client of this.clients) client.close();
  }

  private async sharedClient(context: DialContext): Promise<SshClient> {
    if (this.shared && !this.shared.closed) return this.shared;
    // A flow that waits may leave; the connection is opened for all of them.
    this.opening ??= this.openForAll(context).finally(() => (this.opening = null));
    return unlessAborted(this.opening, context.signal);
  }

  private async openForAll({ onStage }: DialContext): Promise<SshClient> {
    const controller = new AbortController();
    const late = new DialError('dial', 'timeout', `not signed in within ${OPEN_TIMEOUT_MS} ms`);
    const timer = setFlowTimeout(null, () => controller.abort(late), OPEN_TIMEOUT_MS);
    try {
      this.shared = await this.open({ signal: controller.signal, onStage });
      return this.shared;
    } finally {
      clearTimeout(timer);
    }
  }

  private async open(context: DialContext): Promise<SshClient> {
    const { server, port } = this.node;
    const below = await this.dialer.connect(server, port, { ...context, plain: true });
    const client = await SshClient.open(below, this.options, context.signal);
    this.clients.add(client);
    client.onClose(() => this.clients.delete(client));
    if (this.closed) client.close();
    return client;
  }

  private channelEnded(client: SshClient): void {
    if (client.channels > 0) return;
    if (client !== this.shared) return client.close();
    if (this.idle) clearTimeout(this.idle);
    this.idle = setFlowTimeout(null, () => client.channels === 0 && client.close(), IDLE_CLOSE_MS);
    this.idle.unref();
  }
}
