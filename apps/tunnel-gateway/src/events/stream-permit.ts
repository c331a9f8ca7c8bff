import { Authenticator, type Actor } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { DataSource } from 'typeorm';
import { ConsoleRules } from '../ip-rules/console-rules.js';

const SESSION_IS_OPEN = `
  SELECT u.role FROM tunnel_gateway.sessions s JOIN tunnel_gateway.users u ON u.id = s.user_id
  WHERE s.id = $1 AND s.expires_at > now() AND u.status = 1`;

/** Checks whether the actor of a stream still has access. */
@Injectable()
export class StreamPermit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly authenticator: Authenticator,
    private readonly console: ConsoleRules,
  ) {}

  /** Checking does not count as use of the session: an open page would keep it alive for ever. */
  async holds(actor: Actor, request: Request): Promise<boolean> {
    if (!this.console.admits(request)) return false;
    if (actor.credential === 'session') {
      const rows = (await this.dataSource.query(SESSION_IS_OPEN, [actor.credentialId])) as { role: string }[];
      return rows[0]?.role === actor.role;
    }
    const now = await this.authenticator.authenticate(request);
    // Includes the role: it decides which events an API key may read.
    return now?.role === actor.role && same(now, actor);
  }
}

function same(now: Actor, before: Actor): boolean {
  return now.credentialId === before.credentialId && now.scopes.join() === before.scopes.join();
}
