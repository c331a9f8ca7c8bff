import { PgListener } from '@gatehouse/persistence';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';

/** The injection token of the PostgreSQL channel that names changed areas. */
export const CHANGES_CHANNEL = Symbol('channel of changes');

/** Stands for every area: announcements may have been missed. */
export const EVERY_AREA = '*';

/** Passes on the announcements of data/sql/changes.sql, whichever process made the change. */
@Injectable()
export class ChangeFeed implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly followers = new Set<(area: string) => void>();
  private stop: (() => Promise<void>) | undefined;

  constructor(
    private readonly listener: PgListener,
    @Inject(CHANGES_CHANNEL) private readonly channel: string,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const pass = (area: string): void => {
      for (const follower of this.followers) follower(area);
    };
    this.stop = await this.listener.listen(this.channel, pass, () => pass(EVERY_AREA));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop?.();
  }

  /** Calls `changed` with the area of each committed change; returns a function that stops this. */
  follow(changed: (area: string) => void): () => void {
    this.followers.add(changed);
    return () => void this.followers.delete(changed);
  }
}
