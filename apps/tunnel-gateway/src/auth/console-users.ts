import { SessionUsers, type Scope, type SessionUser } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import type { UserRole } from '../data/user.entity.js';
import { Users } from '../users/users.service.js';

const SCOPE_OF_ROLE: Record<UserRole, Scope> = { admin: 'admin', user: 'write', viewer: 'read' };

/** Provides console users to sessions. */
@Injectable()
export class ConsoleUsers extends SessionUsers {
  constructor(private readonly users: Users) {
    super();
  }

  async find(userId: number): Promise<SessionUser | undefined> {
    const user = await this.users.findEnabled(userId);
    return user === null ? undefined : { name: user.username, role: user.role, scopes: [SCOPE_OF_ROLE[user.role]] };
  }
}
