import type { Actor } from '@gatehouse/auth';
import { AppError, beginEventStream, HealthRegistry, waitWhileOpen } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ChangeFeed, EVERY_AREA } from './change-feed.js';
import { ChangePermit } from './change-permit.js';

/** The most streams of this process, and of one user or key: each holds a connection. A console has one for all its tabs. */
const MAX_STREAMS = 128;
const MAX_OF_ONE = 32;
/** Changes within this time are one message. */
const COLLECT_MS = 200;
/** How often the permit and the state of the service are checked. */
const LOOK_MS = 1_000;
/** Proxies on the way close idle connections, some of them after 30 s. */
const QUIET_LOOKS = 15;
/** A client that reads nothing is disconnected rather than buffered for. */
const MAX_BUFFERED = 65_536;

export interface ChangeRequest {
  actor: Actor | null;
  request: Request;
  response: Response;
}

/** Sends the names of changed areas as server-sent events (HTML Living Standard 9.2). */
@Injectable()
export class ChangeStream implements BeforeApplicationShutdown {
  private readonly open = new Map<string, number>();
  private stopping = false;

  constructor(
    private readonly feed: ChangeFeed,
    private readonly permit: ChangePermit,
    private readonly health: HealthRegistry,
  ) {}

  /** An open stream would delay the shutdown. */
  beforeApplicationShutdown(): void {
    this.stopping = true;
  }

  /** @throws AppError SERVICE_UNAVAILABLE while too many streams are open. */
  async send(stream: ChangeRequest): Promise<void> {
    const { actor, response } = stream;
    const owner = ownerOf(actor);
    const own = this.open.get(owner) ?? 0;
    const all = [...this.open.values()].reduce((sum, count) => sum + count, 0);
    if (own >= MAX_OF_ONE || all >= MAX_STREAMS) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many streams of changes are open already', {
        retryAfterSeconds: 5,
      });
    }
    this.open.set(owner, own + 1);
    const outbox = new ChangeOutbox(response);
    const leave = this.feed.follow((area) => outbox.add(area));
    try {
      beginEventStream(response);
      // A list that was read before the stream began may be out of date.
      response.write(messageOf([EVERY_AREA]));
      await this.follow(stream, outbox);
    } finally {
      leave();
      outbox.close();
      const left = (this.open.get(owner) ?? 1) - 1;
      if (left > 0) this.open.set(owner, left);
      else this.open.delete(owner);
      response.end();
    }
  }

  /** Runs until the client leaves or stops reading, its permit ends, or the service stops. */
  private async follow({ actor, request, response }: ChangeRequest, outbox: ChangeOutbox): Promise<void> {
    for (let quiet = 0; !response.destroyed && !this.stopping && !this.health.isDraining;) {
      await waitWhileOpen(response, LOOK_MS);
      // A short failure of the database does not end a stream, and does not let it pass on what it may not.
      const holds = await this.permit.holds(actor, request).catch(() => null);
      if (holds === false) return;
      outbox.hold(holds === null);
      quiet = outbox.takeWritten() ? 0 : quiet + 1;
      if (quiet > 0 && quiet % QUIET_LOOKS === 0) response.write(': still here\n\n');
      if (response.writableLength > MAX_BUFFERED) response.destroy();
    }
  }
}

/** Collects areas for a moment and writes each once. */
class ChangeOutbox {
  private readonly areas = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private held = false;
  private written = false;

  constructor(private readonly response: Response) {}

  add(area: string): void {
    this.areas.add(area);
    if (!this.held) this.timer ??= setTimeout(() => this.flush(), COLLECT_MS);
  }

  /** While held, areas are collected and not written. */
  hold(held: boolean): void {
    this.held = held;
    if (!held && this.areas.size > 0) this.timer ??= setTimeout(() => this.flush(), COLLECT_MS);
  }

  /** Whether anything was written since the last call. */
  takeWritten(): boolean {
    const { written } = this;
    this.written = false;
    return written;
  }

  close(): void {
    clearTimeout(this.timer);
    this.held = true;
  }

  private flush(): void {
    this.timer = undefined;
    if (this.held || this.response.destroyed) return;
    this.response.write(messageOf([...this.areas].sort()));
    this.areas.clear();
    this.written = true;
  }
}

/** A user's logins and keys count together. */
function ownerOf(actor: Actor | null): string {
  if (actor === null) return 'nobody';
  return actor.userId === null ? `${actor.credential} ${actor.credentialId}` : `user ${actor.userId}`;
}

function messageOf(areas: readonly string[]): string {
  return `event: changed\ndata: ${JSON.stringify({ areas })}\n\n`;
}
