import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Users of a listener, held as digests under a key of this process. */
export class Authenticator {
  private readonly key = randomBytes(32);
  private readonly digests: { username: string; digest: Buffer }[];

  constructor(users: readonly { username: string; password: string }[]) {
    this.digests = users.map(({ username, password }) => ({ username, digest: this.digest(username, password) }));
  }

  get required(): boolean {
    return this.digests.length > 0;
  }

  /** Name of the user, null for none. Every user is compared, in constant time, whoever it is. */
  check(username: string, password: string): string | null {
    const digest = this.digest(username, password);
    let found: string | null = null;
    for (const user of this.digests) if (timingSafeEqual(user.digest, digest)) found = user.username;
    return found;
  }

  private digest(username: string, password: string): Buffer {
    // The length keeps `ab` + `c` and `a` + `bc` apart.
    return createHmac('sha256', this.key).update(`${username.length}:${username}:${password}`).digest();
  }
}
