import { type Actor, requireLogin, SessionStore } from '@gatehouse/auth';
import type { EndedSessionsView, TunnelSessionPage, TunnelSessionView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { OwnedRows } from '../data/owned-rows.js';
import { readOptions } from '../data/row-options.js';
import { User } from '../data/user.entity.js';
import { instant } from '../wire/view-parts.js';
import { SESSION_SORT, type SessionQuery } from './session.dto.js';
import { SessionDetails, type SessionRow } from '../data/session.entity.js';

/** Active logins: users see their own, administrators see all. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly store: SessionStore,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async list(query: SessionQuery, actor: Actor): Promise<TunnelSessionPage> {
    const { user_id: userId } = query;
    const conditions = [
      { sql: 'row.expires_at > now()' },
      ...(userId === undefined ? [] : [{ sql: 'row.user_id = :userId', parameters: { userId } }]),
    ];
    const { items, next_cursor } = await this.owned.sessions(actor).page(query, conditions, SESSION_SORT);
    return { items: await this.views(items, actor), next_cursor };
  }

  /** @throws AppError NOT_FOUND, also for logins of others. */
  async end(id: number, actor: Actor): Promise<void> {
    requireLogin(actor);
    await this.owned.sessions(actor).one(id);
    await this.store.endById(id);
  }

  /** Ends all of the user's logins except the current one. */
  async endOthers(actor: Actor): Promise<EndedSessionsView> {
    const userId = requireLogin(actor);
    const ended = await this.unitOfWork.run((tx) => this.store.endOthersOf(userId, actor.credentialId, tx));
    return { ended };
  }

  private async views(sessions: readonly SessionRow[], actor: Actor): Promise<TunnelSessionView[]> {
    const { options: manager } = this.owned;
    const ids = sessions.map(({ id }) => id);
    const details = await readOptions(manager, SessionDetails, 'sessionId', ids);
    const users = await manager.findBy(User, { id: In([...new Set(sessions.map(({ userId }) => userId))]) });
    const names = new Map(users.map(({ id, username }) => [id, username]));
    return sessions.flatMap((session) => {
      const username = names.get(session.userId);
      // The user was removed after the logins were read.
      if (username === undefined) return [];
      const current = actor.credential === 'session' && actor.credentialId === session.id;
      return [{ ...toSessionView(session, details.get(session.id)), username, current }];
    });
  }
}

function toSessionView(
  session: SessionRow,
  details: SessionDetails | undefined,
): Omit<TunnelSessionView, 'username' | 'current'> {
  return {
    id: session.id,
    user_id: session.userId,
    address: details?.address ?? null,
    software: details?.software ?? null,
    created_at: instant(session.createdAt),
    expires_at: instant(session.expiresAt),
    last_used_at: instant(details?.lastUsedAt ?? null),
    last_used_ip: details?.lastUsedIp ?? null,
  };
}
