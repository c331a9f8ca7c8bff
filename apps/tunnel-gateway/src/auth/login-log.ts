import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { EntityManager } from 'typeorm';
import { EventLog } from '../events/event-log.js';
import type { User } from '../users/user.entity.js';
import { Users } from '../users/users.service.js';

const MAX_SOFTWARE = 256;

/** What is remembered of logins, good and failed. */
@Injectable()
export class LoginLog {
  constructor(
    private readonly users: Users,
    private readonly events: EventLog,
  ) {}

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

  /** Says nothing of a name that nobody has: it may be a password that went into the wrong field. */
  async failed(username: string, address: string): Promise<void> {
    const user = await this.users.findByName(username);
    await this.events.record({
      type: 'user.login_failed',
      resource: user && { kind: 'user', id: user.id },
      ownerUserId: user?.id ?? null,
      message: `a login ${user ? `of ${user.username}` : 'with an unknown name'} from ${address} failed`,
      data: { username: user?.username ?? null, address },
    });
  }
}
