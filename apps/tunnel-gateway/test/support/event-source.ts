import { waitFor } from '@gatehouse/testing';
import type { AnyJson } from './tunnel-world.js';

export interface SeenEvent {
  id: string | null;
  type: string;
  data: AnyJson;
}

/** What a client of server-sent events sees. */
export class EventClient {
  readonly seen: SeenEvent[] = [];
  comments = 0;
  ended = false;
  readonly status: number;
  private readonly stop: AbortController;

  private constructor(response: Response, stop: AbortController) {
    this.status = response.status;
    this.stop = stop;
    void this.read(response);
  }

  /** Of events of one type: logging in is an event, too. */
  static async open(url: string, token: string, headers: Record<string, string> = {}): Promise<EventClient> {
    const stop = new AbortController();
    const response = await fetch(`${url}/api/v1/events?type=host.updated`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
      signal: stop.signal,
    });
    return new EventClient(response, stop);
  }

  close(): void {
    this.stop.abort();
  }

  async until(type: string, count = 1): Promise<SeenEvent[]> {
    return waitFor(() => {
      const found = this.seen.filter((event) => event.type === type);
      return found.length >= count ? found : null;
    });
  }

  private async read(response: Response): Promise<void> {
    let text = '';
    try {
      for await (const part of response.body ?? []) {
        text += Buffer.from(part).toString();
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.take(block);
      }
    } catch {
      // Cut off, by either side.
    }
    this.ended = true;
  }

  private take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
    if (block.startsWith(':')) this.comments += 1;
    const data = fields.get('data');
    if (data === undefined) return;
    this.seen.push({ id: fields.get('id') ?? null, type: fields.get('event') ?? '', data: JSON.parse(data) });
  }
}
