import { guardPromise } from '../flow-boundary.js';
import type { ControlLink } from './control-link.js';
import { PendingRequests } from './pending-requests.js';

/** Upper bound for unanswered requests of a peer. */
const MAX_RUNNING = 1_024;

type Message =
  | { type: 'request'; id: number; method: string; params: unknown }
  | { type: 'response'; id: number; ok: true; result: unknown }
  | { type: 'response'; id: number; ok: false; code: string; message: string }
  | { type: 'note'; name: string; value: unknown };

/** An error as the answer to a request. `code`: for programs; `unavailable` if there was no answer. */
export class ChannelError extends Error {
  override readonly name = 'ChannelError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ChannelHandlers {
  /** Answers a request of the other side; errors are sent as answers, too. */
  perform(method: string, params: unknown): Promise<unknown>;
  /** Receives a notification. */
  noted(name: string, value: unknown): void;
  /** Called once. */
  closed(): void;
}

/** Requests with answers in both directions over one control link. Both sides are equal. */
export class ChannelPeer {
  private readonly link: ControlLink;
  private readonly handlers: ChannelHandlers;
  private readonly pending = new PendingRequests();
  private running = 0;
  /** Resolves when the system has accepted everything that was sent. */
  private said: Promise<void> = Promise.resolve();

  constructor(link: ControlLink, handlers: ChannelHandlers) {
    this.link = link;
    this.handlers = handlers;
    link.onMessage((message) => this.receive(message as Message));
    link.onClose(() => this.closed());
  }

  /** @throws ChannelError `unavailable` if no answer came in time, or the error of the other side. */
  request(method: string, params: unknown, timeoutMs: number): Promise<unknown> {
    if (this.link.closed) return Promise.reject(new ChannelError('unavailable', 'the channel is closed'));
    return this.pending.add(
      timeoutMs,
      (id) => this.send({ type: 'request', id, method, params }),
      () => new ChannelError('unavailable', `no answer to ${method}`),
    );
  }

  /** Sends a notification, which has no answer. */
  note(name: string, value: unknown): void {
    this.send({ type: 'note', name, value });
  }

  close(): void {
    this.link.close();
  }

  /** Closes after everything was sent. */
  finish(): void {
    guardPromise(
      null,
      this.said.then(() => this.close()),
    );
  }

  private send(message: Message): void {
    // If the link ends, `close` also rejects the pending requests.
    this.said = this.link.send(message).catch(() => this.close());
  }

  private receive(message: Message): void {
    if (message.type === 'request') guardPromise(null, this.perform(message));
    else if (message.type === 'note') this.handlers.noted(message.name, message.value);
    else if (message.type !== 'response') this.close();
    else if (message.ok) this.pending.resolve(message.id, message.result);
    else this.pending.reject(message.id, new ChannelError(message.code, message.message));
  }

  private async perform({ id, method, params }: Extract<Message, { type: 'request' }>): Promise<void> {
    if (this.running >= MAX_RUNNING) return this.close();
    this.running += 1;
    try {
      this.send({ type: 'response', id, ok: true, result: await this.handlers.perform(method, params) });
    } catch (error) {
      const code = error instanceof ChannelError ? error.code : 'failed';
      this.send({ type: 'response', id, ok: false, code, message: error instanceof Error ? error.message : 'failed' });
    } finally {
      this.running -= 1;
    }
  }

  private closed(): void {
    this.pending.rejectAll(new ChannelError('unavailable', 'the channel was closed'));
    this.handlers.closed();
  }
}
