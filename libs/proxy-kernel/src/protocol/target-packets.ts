import type { PacketConnection, Target } from '../interfaces/index.js';

/** The most targets of one association; the one that was idle longest is dropped. */
const MAX_TARGETS = 256;
/** Datagrams that wait while a target's stream is being opened. */
const MAX_WAITING = 32;

/** Datagrams to and from one target. `close` ends it silently; `onClose` is called once, however it ends. */
export interface TargetChannel {
  send(payload: Buffer): void;
  onMessage(listener: (payload: Buffer) => void): void;
  onClose(listener: () => void): void;
  close(): void;
}

interface Entry {
  channel: TargetChannel | null;
  waiting: Buffer[];
}

/** UDP over protocols that name the target once per stream: a stream for each target, opened by its first datagram. */
export class TargetPackets implements PacketConnection {
  private readonly open: (target: Target, signal: AbortSignal) => Promise<TargetChannel>;
  /** By target, in order of last use. */
  private readonly entries = new Map<string, Entry>();
  private readonly opening = new AbortController();
  private readonly messageListeners: ((payload: Buffer, from: Target) => void)[] = [];
  private readonly closeListeners: ((error?: Error) => void)[] = [];
  private closed = false;

  constructor(open: (target: Target, signal: AbortSignal) => Promise<TargetChannel>) {
    this.open = open;
  }

  send(payload: Buffer, { host, port }: Target): void {
    if (this.closed) return;
    const key = `${host}|${port}`;
    const entry = this.entries.get(key) ?? this.begin(key, { host, port });
    this.entries.delete(key);
    this.entries.set(key, entry);
    if (entry.channel) entry.channel.send(payload);
    else if (entry.waiting.length < MAX_WAITING) entry.waiting.push(Buffer.from(payload));
  }

  onMessage(listener: (payload: Buffer, from: Target) => void): void {
    this.messageListeners.push(listener);
  }

  onClose(listener: (error?: Error) => void): void {
    this.closeListeners.push(listener);
  }

  close(): void {
    this.end();
  }

  private begin(key: string, target: Target): Entry {
    const [oldest] = this.entries;
    if (oldest && this.entries.size >= MAX_TARGETS) {
      this.entries.delete(oldest[0]);
      oldest[1].channel?.close();
    }
    const entry: Entry = { channel: null, waiting: [] };
    this.open(target, this.opening.signal).then(
      (channel) => this.opened(key, entry, target, channel),
      // If the node cannot be reached the association ends, as if its socket had failed.
      (error: unknown) => this.end(error instanceof Error ? error : new Error(String(error))),
    );
    return entry;
  }

  private opened(key: string, entry: Entry, target: Target, channel: TargetChannel): void {
    if (this.entries.get(key) !== entry) return channel.close();
    entry.channel = channel;
    channel.onMessage((payload) => {
      for (const listener of this.messageListeners) listener(payload, target);
    });
    channel.onClose(() => {
      // The next datagram to this target opens another stream.
      if (this.entries.get(key) === entry) this.entries.delete(key);
    });
    for (const payload of entry.waiting.splice(0)) channel.send(payload);
  }

  private end(error?: Error): void {
    if (this.closed) return;
    this.closed = true;
    this.opening.abort();
    const entries = [...this.entries.values()];
    this.entries.clear();
    for (const { channel } of entries) channel?.close();
    for (const listener of this.closeListeners) listener(error);
  }
}
