import type { Actor } from '@gatehouse/auth';
import { AppError, beginEventStream, HealthRegistry, JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EventFeed } from './event-feed.js';
import type { EventQuery } from './event.dto.js';
import { EventsReader } from './events-reader.js';
import { StreamPermit } from './stream-permit.js';

/** Concurrent streams of this process, and of one user: each holds a connection. */
const MAX_STREAMS = 128;
const MAX_OF_ONE = 16;
const BATCH = 100;
/** Interval of checks for the permit and for the end of the service. */
const LOOK_MS = 1_000;
/** Proxies close idle connections, some of them after 30 s. */
const QUIET_LOOKS = 15;
/** A client that reads nothing for this long is disconnected. */
const STUCK_MS = 30_000;

export interface StreamRequest {
  query: EventQuery;
  actor: Actor;
  request: Request;
  response: Response;
}

/** Events as server-sent events (HTML Living Standard 9.2), each once, in the order of their ids. */
@Injectable()
export class EventStream implements BeforeApplicationShutdown {
  private readonly open = new Map<number, number>();
  private stopping = false;

  constructor(
    private readonly reader: EventsReader,
    private readonly feed: EventFeed,
    private readonly permit: StreamPermit,
    private readonly health: HealthRegistry,
    private readonly logger: JsonLogger,
  ) {}

  /** An open stream would delay the shutdown. */
  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /** @throws AppError SERVICE_UNAVAILABLE if there are too many streams. */
  async send(stream: StreamRequest): Promise<void> {
    const user = stream.actor.userId ?? 0;
    const own = this.open.get(user) ?? 0;
    const all = [...this.open.values()].reduce((sum, count) => sum + count, 0);
    if (own >= MAX_OF_ONE || all >= MAX_STREAMS) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many event streams are already open', { retryAfterSeconds: 5 });
    }
    this.open.set(user, own + 1);
    try {
      await this.follow(stream, await this.start(stream));
    } finally {
      const left = (this.open.get(user) ?? 1) - 1;
      if (left > 0) this.open.set(user, left);
      else this.open.delete(user);
      if (stream.response.headersSent) stream.response.end();
    }
  }

  private get ending(): boolean {
    return this.stopping || this.health.isDraining;
  }

  /** The event after which the stream starts. */
  private async start({ query, request, response }: StreamRequest): Promise<number> {
    const said = request.get('last-event-id') ?? query.last_event_id;
    const { first, last } = await this.reader.span();
    beginEventStream(response);
    if (said === undefined || !/^\d{1,15}$/.test(said)) return last;
    // Events are missing if they have been deleted, or if the client saw events that a restore took back: a client with
    // a copy must then read the list again.
    const isAhead = last > 0 && Number(said) > last;
    if (isAhead || Number(said) < first - 1) {
      response.write(`event: gap\ndata: ${JSON.stringify({ first_id: first })}\n\n`);
    }
    return Math.min(Number(said), last);
  }

  /** Ends when the client leaves or stops reading, the service stops, or the permit ends. */
  private async follow(stream: StreamRequest, after: number): Promise<void> {
    const { response, actor, request } = stream;
    const bell = new Bell(response);
    const leave = this.feed.follow(() => bell.ring());
    try {
      for (let quiet = 0, looked = performance.now(); !response.destroyed && !this.ending;) {
        const due = performance.now() - looked >= LOOK_MS;
        if (due) looked = performance.now();
        if (due && !(await this.known(() => this.permit.holds(actor, request), true))) return;
        const last = await this.known(() => this.batch(stream, after), null);
        if (last !== null) [after, quiet] = [last, 0];
        else {
          quiet += due ? 1 : 0;
          if (due && quiet % QUIET_LOOKS === 0) response.write(': still here\n\n');
          await bell.wait(LOOK_MS);
        }
      }
    } finally {
      leave();
    }
  }

  /** Writes new events; resolves to the id of the last one, or null. */
  private async batch({ query, actor, response }: StreamRequest, after: number): Promise<number | null> {
    const events = await this.reader.after(after, query, actor, BATCH);
    for (const event of events) {
      const text = `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
      if (!response.write(text)) await drained(response);
    }
    return events.at(-1)?.id ?? null;
  }

  /** A short failure of the database does not end a stream. */
  private async known<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      this.logger.debug('events cannot be followed for the moment', { error: String(error) }, 'Events');
      return otherwise;
    }
  }
}

/** Wakes a waiting task; a signal without a waiting task is kept. */
class Bell {
  private rung = false;
  private wake: () => void = () => undefined;

  constructor(response: Response) {
    response.on('close', () => this.ring());
  }

  ring(): void {
    this.rung = true;
    this.wake();
  }

  async wait(longestMs: number): Promise<void> {
    if (!this.rung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, longestMs);
      this.wake = resolve;
      await promise;
      clearTimeout(timer);
    }
    this.rung = false;
  }
}

/** Resolves when more can be written; a client that reads nothing is disconnected. */
async function drained(response: Response): Promise<void> {
  if (response.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => response.destroy(), STUCK_MS);
  response.once('drain', resolve).once('close', resolve);
  await promise;
  clearTimeout(timer);
  response.off('drain', resolve).off('close', resolve);
}
