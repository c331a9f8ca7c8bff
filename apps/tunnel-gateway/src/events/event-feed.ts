import { PgListener } from '@gatehouse/persistence';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';

const EVENTS_CHANNEL = 'tunnel_gateway:events';

/** Notifies about new events, from any process. */
@Injectable()
export class EventFeed implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly followers = new Set<() => void>();
  private stop: (() => Promise<void>) | undefined;

  constructor(private readonly listener: PgListener) {}

  async onApplicationBootstrap(): Promise<void> {
    const wake = (): void => {
      for (const follower of this.followers) follower();
    };
    this.stop = await this.listener.listen(EVENTS_CHANNEL, wake, wake);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop?.();
  }

  /**
   * Calls `wake` after each commit with events, and when some may have been missed; returns a function that stops this.
   */
  follow(wake: () => void): () => void {
    this.followers.add(wake);
    return () => void this.followers.delete(wake);
  }
}
