import { hashPassword, needsRehash, verifyPassword } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type Repository } from 'typeorm';
import { ENABLED, User, type UserRole } from '../data/user.entity.js';

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly role: UserRole;
}

/** Console users: finding them, checking their passwords, making them. */
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

  /** Whoever has the name, enabled or not. */
  async findByName(username: string): Promise<User | null> {
    return this.users.findOneBy({ username: username.toLowerCase() });
  }

  /** The user as long as they are enabled and have this hash; no change of either is committed before `tx` ends. */
  async hold({ id, passwordHash }: User, tx: EntityManager): Promise<User | null> {
    return tx.findOne(User, { where: { id, passwordHash, status: ENABLED }, lock: { mode: 'pessimistic_read' } });
  }

  /** False when the hash is another by now. */
  async replaceHash({ id, passwordHash: former }: User, passwordHash: string, tx: EntityManager): Promise<boolean> {
    const { affected } = await tx.update(User, { id, passwordHash: former }, { passwordHash, updatedAt: new Date() });
    return affected === 1;
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.users.exists());
  }

  /** Makes a user; false when the name is taken. */
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

  /** The user of a name and password; undefined takes as long for unknown names as for wrong passwords. */
  async verify(username: string, password: string): Promise<User | undefined> {
    const user = await this.users.findOneBy({ username: username.toLowerCase(), status: ENABLED });
    if (!(await verifyPassword(password, user?.passwordHash)) || user === null) return undefined;
    if (needsRehash(user.passwordHash)) {
      const passwordHash = await hashPassword(password);
      // Only in place of the hash that was compared: the password may have been changed meanwhile.
      await this.users.update(
        { id: user.id, passwordHash: user.passwordHash },
        { passwordHash, updatedAt: new Date() },
      );
      user.passwordHash = passwordHash;
    }
    return user;
  }
}
