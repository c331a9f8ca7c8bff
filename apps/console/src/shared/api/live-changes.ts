import type { ApiClient } from './api-client.js';
import { readMessages } from './event-stream.js';
import type { Session } from './session.js';
import { wait } from './wait.js';

/** Stands for every area: something may have changed unnoticed. */
const EVERY_AREA = '*';
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** What the tab with the stream says to the others. */
type StreamNews = { kind: 'changed'; areas: readonly string[] } | { kind: 'live'; live: boolean };

/** The other tabs of the same console, and the lock that one of them holds. */
export interface StreamTabs {
  send: (news: StreamNews | { kind: 'ask' }) => void;
  onMessage: (listener: (message: unknown) => void) => void;
  /** Runs `work` while this tab, and no other, holds the stream. Null where the browser has no locks: without HTTPS. */
  lead: ((signal: AbortSignal, work: () => Promise<void>) => Promise<void>) | null;
}

/** @param name of the console: another one on the same origin has its own stream */
export function openStreamTabs(name: string): StreamTabs {
  const channel = new BroadcastChannel(`${name} changes`);
  const locks = (navigator as Partial<Navigator>).locks;
  return {
    send: (news) => channel.postMessage(news),
    onMessage: (listener) => (channel.onmessage = ({ data }: MessageEvent<unknown>) => listener(data)),
    lead: locks === undefined ? null : (signal, work) => locks.request(`${name} changes`, { signal }, work),
  };
}

/**
 * Which lists have changed, over one event stream for all tabs of a console: a browser has six connections for a host,
 * and a stream for each tab would use them up. When the tab with the stream is closed, another one opens it.
 */
export class LiveChanges {
  readonly #api: Pick<ApiClient, 'open'>;
  readonly #tabs: StreamTabs;
  readonly #listeners = new Set<(areas: readonly string[]) => void>();
  #ending: AbortController | null = null;
  #leads = false;
  #live = false;

  constructor(api: Pick<ApiClient, 'open'>, tabs: StreamTabs) {
    this.#api = api;
    this.#tabs = tabs;
    tabs.onMessage((message) => this.#hear(message));
  }

  /** Whether changes are announced at present; lists are read at intervals otherwise. */
  get live(): boolean {
    return this.#live;
  }

  /** Follows changes while a user is signed in. */
  attach(session: Pick<Session, 'onChange'>): void {
    session.onChange((state) => {
      if (state === 'signed-in' || state === 'open') this.#begin();
      else this.#end();
    });
  }

  /** Calls the listener with the names of changed areas, until the returned function is called. */
  follow(areas: readonly string[], listener: () => void): () => void {
    const wanted = new Set(areas);
    const onChanged = (changed: readonly string[]): void => {
      if (changed.some((area) => area === EVERY_AREA || wanted.has(area))) listener();
    };
    this.#listeners.add(onChanged);
    return () => void this.#listeners.delete(onChanged);
  }

  #begin(): void {
    if (this.#ending !== null || this.#tabs.lead === null) return;
    const ending = new AbortController();
    this.#ending = ending;
    this.#tabs.send({ kind: 'ask' });
    // Waiting for the lock ends with an AbortError at sign-out.
    this.#tabs.lead(ending.signal, () => this.#stream(ending.signal)).catch(() => undefined);
  }

  #end(): void {
    this.#ending?.abort();
    this.#ending = null;
    this.#live = false;
  }

  /** Holds the stream until the signal; opens it again with growing pauses. */
  async #stream(signal: AbortSignal): Promise<void> {
    this.#leads = true;
    let pause = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        const stream = await this.#api.open('/changes', { headers: { accept: 'text/event-stream' }, signal });
        this.#notify({ kind: 'live', live: true });
        pause = FIRST_PAUSE_MS;
        for await (const { event, data } of readMessages(stream)) {
          if (event === 'changed') this.#notify({ kind: 'changed', areas: readAreas(data) });
        }
      } catch {
        // The page says that the service is away; here it only has to be tried again.
      }
      if (this.#live && !signal.aborted) this.#notify({ kind: 'live', live: false });
      await wait(pause, signal);
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    }
    this.#leads = false;
  }

  #notify(news: StreamNews): void {
    this.#tabs.send(news);
    this.#take(news);
  }

  #hear(message: unknown): void {
    if (this.#ending === null || typeof message !== 'object' || message === null || !('kind' in message)) return;
    if (message.kind === 'ask') {
      if (this.#leads) this.#tabs.send({ kind: 'live', live: this.#live });
    } else if (message.kind === 'live' && 'live' in message) {
      this.#take({ kind: 'live', live: message.live === true });
    } else if (message.kind === 'changed' && 'areas' in message && Array.isArray(message.areas)) {
      this.#take({ kind: 'changed', areas: message.areas as string[] });
    }
  }

  #take(news: StreamNews): void {
    if (news.kind === 'live') {
      if (this.#live === news.live) return;
      this.#live = news.live;
    }
    // A stream that begins or ends leaves a gap before or after it.
    const areas = news.kind === 'changed' ? news.areas : [EVERY_AREA];
    for (const listener of this.#listeners) listener(areas);
  }
}

/** What is not understood may be anything. */
function readAreas(data: string): readonly string[] {
  try {
    const { areas } = JSON.parse(data) as { areas?: unknown };
    if (Array.isArray(areas)) return areas.map(String);
  } catch {
    // Not JSON.
  }
  return [EVERY_AREA];
}
