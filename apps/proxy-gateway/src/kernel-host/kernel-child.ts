import { KernelConfigError } from '@gatehouse/proxy-kernel';
import type { ProxyKernel } from '@gatehouse/proxy-kernel';
import type { KernelEventQueue } from './kernel-event-queue.js';
import type { ChildMessage, CloseFilter, ParentMessage, RemoteError } from './kernel-ipc.js';

/** What the child needs of the process it runs in. */
export interface ChildChannel {
  send(message: ChildMessage): Promise<void>;
  exit(code: number): void;
}

/** Answers the service's requests with one kernel. */
export class KernelChild {
  readonly #kernel: ProxyKernel;
  readonly #events: KernelEventQueue;
  readonly #channel: ChildChannel;
  #ending: Promise<void> | null = null;

  constructor(kernel: ProxyKernel, events: KernelEventQueue, channel: ChildChannel) {
    this.#kernel = kernel;
    this.#events = events;
    this.#channel = channel;
    kernel.on('closed', (record) => events.closed(record));
    kernel.on('traffic', (delta) => events.traffic(delta));
  }

  async handle(message: ParentMessage): Promise<void> {
    const answer = await this.#answer(message);
    // A channel that is gone has ended this process already (`disconnect`).
    await this.#channel.send(answer).catch(() => undefined);
    if (message.method === 'shutdown') this.#channel.exit(0);
  }

  /** Ends every flow, hands over what is left to tell, once. */
  end(graceMs: number): Promise<void> {
    this.#ending ??= this.#kernel.close(graceMs).then(() => this.#events.flush());
    return this.#ending;
  }

  async #answer(message: ParentMessage): Promise<ChildMessage> {
    try {
      return { type: 'response', id: message.id, ok: true, result: await this.#perform(message) };
    } catch (error) {
      return { type: 'response', id: message.id, ok: false, error: toRemoteError(error) };
    }
  }

  async #perform(message: ParentMessage): Promise<unknown> {
    switch (message.method) {
      case 'ping':
        return null;
      case 'apply':
        return this.#kernel.apply(message.params);
      case 'select':
        this.#kernel.select(message.params.group, message.params.member);
        return null;
      case 'connections':
        return this.#kernel.connections();
      case 'closeConnection':
        return this.#kernel.closeConnection(message.params.id);
      case 'closeConnections':
        return this.#closeConnections(message.params);
      case 'testRoute':
        return this.#kernel.testRoute(message.params);
      case 'status':
        return this.#kernel.status();
      case 'shutdown':
        await this.end(message.params.graceMs);
        return null;
    }
  }

  #closeConnections({ group }: CloseFilter): number {
    if (group === undefined) return this.#kernel.closeConnections();
    const through = this.#kernel.connections().filter((connection) => connection.chain.includes(group));
    return through.filter((connection) => this.#kernel.closeConnection(connection.id)).length;
  }
}

function toRemoteError(error: unknown): RemoteError {
  if (error instanceof KernelConfigError) return { name: error.name, message: error.message, path: error.path };
  if (error instanceof Error) return { name: error.name, message: error.message };
  return { name: 'Error', message: String(error) };
}
