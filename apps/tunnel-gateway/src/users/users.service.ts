import { hashPassword } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type Repository } from 'typeorm';
import { ENABLED, User, type UserRole } from '../data/user.entity.js';

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly role: UserRole;
}

/** Finds and creates console users. */
@Injectable()
export class Users {
  private readonly users: Repository<User>;

  constructor(dataSource: DataSource) {
    this.users = dataSource.getRepository(User);
  }

  /** A user who may log in. */
  async findEnabled(id: number): Promise<User | null> {
    return this.users.findOneBy({ id, status: ENABLED });
  }

  /** A user who may log in, by name. */
  async findEnabledByName(username: string): Promise<User | null> {
    return this.users.findOneBy({ username: username.toLowerCase(), status: ENABLED });
  }

  /** The user with this name, enabled or not. */
  async findByName(username: string): Promise<User | null> {
    return this.users.findOneBy({ username: username.toLowerCase() });
  }

  /** Returns and locks the user if they are enabled and have this hash. */
  async hold({ id, passwordHash }: User, tx: EntityManager): Promise<User | null> {
    return tx.findOne(User, { where: { id, passwordHash, status: ENABLED }, lock: { mode: 'pessimistic_read' } });
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.users.exists());
  }

  /** Creates a user; false if the name is taken. */
  async create({ username, password, role }: NewUser, tx?: EntityManager): Promise<boolean> {
    const now = new Date();
    const passwordHash = await hashPassword(password);
    const { raw } = await (tx?.getRepository(User) ?? this.users)
      .createQueryBuilder()
      .insert()
      .values({ username, passwordHash, role, createdAt: now, updatedAt: now })
      .orIgnore()
      .returning('id')
      .execute();
    return (raw as unknown[]).length > 0;
  }
}
