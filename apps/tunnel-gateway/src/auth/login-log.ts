import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { Request } from 'express';
import type { EntityManager } from 'typeorm';
import { EventLog, type NewEvent } from '../events/event-log.js';
import { EventSampler } from '../common/event-sampler.js';
import type { User } from '../data/user.entity.js';
import { Users } from '../users/users.service.js';

const MAX_SOFTWARE = 256;
const RELEASE_MS = 5_000;

interface FailedLogin {
  user: User | null;
  address: string;
}

/** Records successful and failed logins. */
@Injectable()
export class LoginLog implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private waiting: NewEvent[] = [];
  private readonly sampler = new EventSampler<FailedLogin>(Date.now, (failed, count) => {
    this.waiting.push(failureOf(failed, count));
  });
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly users: Users,
    private readonly events: EventLog,
    private readonly logger: JsonLogger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.release(), RELEASE_MS);
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  async opened({ id, username }: User, sessionId: number, request: Request, tx: EntityManager): Promise<void> {
    const address = request.ip ?? '';
    const software = request.headers['user-agent']?.slice(0, MAX_SOFTWARE) ?? null;
    const insert = 'INSERT INTO session_details (session_id, address, software) VALUES ($1, $2, $3)';
    await tx.query(insert, [sessionId, address, software]);
    await this.events.record(
      {
        type: 'user.login',
        resource: { kind: 'user', id },
        ownerUserId: id,
        message: `${username} logged in from ${address}`,
        data: { username, address, software },
      },
      tx,
    );
  }

  /**
   * Does not record unknown names, which may be passwords typed into the wrong field. Of many failures one event per
   * minute and user is recorded, so that they do not displace other events.
   */
  async failed(username: string, address: string): Promise<void> {
    const user = await this.users.findByName(username);
    this.sampler.count(String(user?.id ?? 'unknown'), 1, { user, address });
    await this.write();
  }

  private async write(): Promise<void> {
    await this.events.recordAll(this.waiting.splice(0));
  }

  private async release(): Promise<void> {
    this.sampler.release();
    try {
      await this.write();
    } catch (error) {
      this.logger.warn('failed logins could not be recorded', { error: String(error) }, 'Logins');
    }
  }
}

function failureOf({ user, address }: FailedLogin, count: number): NewEvent {
  const whose = user ? `of ${user.username}` : 'with an unknown name';
  return {
    type: 'user.login_failed',
    resource: user && { kind: 'user', id: user.id },
    ownerUserId: user?.id ?? null,
    message:
      count === 1
        ? `a login ${whose} from ${address} failed`
        : `${count} logins ${whose} failed, the last from ${address}`,
    data: { username: user?.username ?? null, address, count },
  };
}
