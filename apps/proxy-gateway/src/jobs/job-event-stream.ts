import type { JobView } from '@gatehouse/contracts';
import { AppError, beginEventStream, HealthRegistry } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { hasEnded } from './job.view.js';
import { JobWatch } from './job-watch.js';

/** The most streams at once in this process, since each holds a connection. */
const MAX_STREAMS = 64;
/** Proxies on the way close idle connections, some of them after 30 s. */
const HEARTBEAT_MS = 15_000;
/** How soon a stream notices that the service is stopping. */
const DRAIN_LOOK_MS = 250;
/** After this time the client has to reconnect and authenticate again: keys are revoked and tokens expire. */
const MAX_AGE_MS = 10 * 60_000;

/** Sends a job as server-sent events (HTML Living Standard 9.2): its present state, every change, and the end. */
@Injectable()
export class JobEventStream {
  private open = 0;

  constructor(
    private readonly watch: JobWatch,
    private readonly health: HealthRegistry,
  ) {}

  /** @throws AppError NOT_FOUND; SERVICE_UNAVAILABLE while too many streams are open. */
  async send(jobId: string, response: Response): Promise<void> {
    if (this.open >= MAX_STREAMS) {
      const message = `${MAX_STREAMS} streams are open already; GET /jobs/{id} shows the same.`;
      throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 5 });
    }
    this.open += 1;
    let release = (): void => {
      this.open -= 1;
      release = () => undefined;
    };
    try {
      await this.stream(jobId, response, () => release());
    } catch (error) {
      release();
      throw error;
    }
  }

  private async stream(jobId: string, response: Response, release: () => void): Promise<void> {
    let serial = 0;
    let leave = (): void => undefined;
    const write = (text: string): void => {
      // A client that does not read is dropped rather than buffered for; it gets the state when it reconnects.
      if (response.writable && !response.write(text)) response.once('drain', () => undefined);
      if (response.writableLength > 1_048_576) response.destroy();
    };
    const changed = (view: JobView): void => {
      if (!response.headersSent) beginEventStream(response);
      serial += 1;
      const event = hasEnded(view) ? 'end' : 'progress';
      write(`id: ${serial}\nevent: ${event}\ndata: ${JSON.stringify(view)}\n\n`);
    };
    const close = (): void => {
      clearInterval(heartbeat);
      clearInterval(drain);
      clearTimeout(age);
      leave();
      release();
      response.end();
    };
    const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS);
    // An open stream would delay the shutdown until its deadline.
    const drain = setInterval(() => this.health.isDraining && close(), DRAIN_LOOK_MS);
    const age = setTimeout(close, MAX_AGE_MS);
    response.on('close', close).on('error', close);
    try {
      leave = await this.watch.watch(jobId, { changed, ended: close });
      if (response.destroyed) leave();
    } catch (error) {
      clearInterval(heartbeat);
      clearInterval(drain);
      clearTimeout(age);
      response.off('close', close).off('error', close);
      throw error;
    }
  }
}
