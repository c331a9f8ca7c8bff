import type { RuntimeLogView } from '@gatehouse/contracts';
import { AppError, beginEventStream, HealthRegistry, waitWhileOpen } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import type { RuntimeLogFilter } from './runtime-log.dto.js';
import { RuntimeLogsService } from './runtime-logs.service.js';

/** The most streams at once in this process: each holds a connection and queries the database every second. */
const MAX_STREAMS = 16;
const LOOK_MS = 1_000;
/** Proxies on the way close idle connections, some of them after 30 s. */
const QUIET_LOOKS = 15;
const MAX_BUFFERED = 1_048_576;
/** After this time the client has to reconnect and authenticate again: keys are revoked and tokens expire. */
const MAX_AGE_MS = 10 * 60_000;

/** Sends log lines of all processes as server-sent events (HTML Living Standard 9.2). */
@Injectable()
export class RuntimeLogStream {
  private readonly logger = new Logger('RuntimeLogs');
  private open = 0;

  constructor(
    private readonly logs: RuntimeLogsService,
    private readonly health: HealthRegistry,
  ) {}

  /**
   * @param after the last line that the client has; undefined: only new lines. @throws AppError SERVICE_UNAVAILABLE.
   */
  async send(filter: RuntimeLogFilter, after: number | undefined, response: Response): Promise<void> {
    if (this.open >= MAX_STREAMS) {
      throw new AppError('SERVICE_UNAVAILABLE', `${MAX_STREAMS} streams of the log are open already`, {
        retryAfterSeconds: 5,
      });
    }
    this.open++;
    try {
      const tail = this.logs.tail(filter, after ?? (await this.logs.lastId()));
      beginEventStream(response);
      await this.follow(tail, response);
    } finally {
      this.open--;
      if (response.headersSent) response.end();
    }
  }

  /** Runs until the client leaves or stops reading, the service stops, or the stream has reached its maximum age. */
  private async follow(tail: () => Promise<RuntimeLogView[]>, response: Response): Promise<void> {
    const until = performance.now() + MAX_AGE_MS;
    for (let quiet = 0; !response.destroyed && !this.health.isDraining && performance.now() < until;) {
      const lines = await tail().catch((error: unknown) => {
        this.logger.debug('The log cannot be followed for the moment', error);
        return [];
      });
      for (const line of lines) response.write(`id: ${line.id}\ndata: ${JSON.stringify(line)}\n\n`);
      quiet = lines.length > 0 ? 0 : quiet + 1;
      if (quiet > 0 && quiet % QUIET_LOOKS === 0) response.write(': still here\n\n');
      if (response.writableLength > MAX_BUFFERED) response.destroy();
      await waitWhileOpen(response, LOOK_MS);
    }
  }
}
