import type { TunnelLogger } from '@gatehouse/tunnel-kernel';
import type { EdgeLogEntry } from '../common/edge-ipc.js';

const MAX_WAITING = 1_000;
const SEND_MS = 50;

/** Log lines on their way to the service: sent in few messages, and bounded in memory. */
export class EdgeLog {
  private waiting: EdgeLogEntry[] = [];
  private dropped = 0;
  private timer: NodeJS.Timeout | null = null;
  private readonly send: (entries: EdgeLogEntry[]) => void;

  constructor(send: (entries: EdgeLogEntry[]) => void) {
    this.send = send;
  }

  logger(debug: boolean): TunnelLogger {
    const at =
      (level: EdgeLogEntry['level']): TunnelLogger['info'] =>
      (message, fields) =>
        this.add({ level, message, ...(fields && { fields }) });
    return { debug: debug ? at('debug') : () => undefined, info: at('info'), warn: at('warn'), error: at('error') };
  }

  flush(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.dropped > 0) this.waiting.push({ level: 'warn', message: `${this.dropped} log lines were too many` });
    this.dropped = 0;
    if (this.waiting.length > 0) this.send(this.waiting.splice(0));
  }

  private add(entry: EdgeLogEntry): void {
    if (this.waiting.length >= MAX_WAITING) this.dropped += 1;
    else this.waiting.push(entry);
    this.timer ??= setTimeout(() => this.flush(), SEND_MS);
  }
}
