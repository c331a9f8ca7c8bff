import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { PgListener } from './pg-listener.js';

/** Passes the notifications of one channel to its followers. Services extend it once for each channel, with `@Injectable()`. */
export abstract class ChannelFeed implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly followers = new Set<(payload: string) => void>();
  private stop: (() => Promise<void>) | undefined;

  /** `afterGap`: the payload that followers get when notifications may have been missed. */
  protected constructor(
    private readonly listener: PgListener,
    private readonly channel: string,
    private readonly afterGap: string,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const pass = (payload: string): void => {
      for (const follower of this.followers) follower(payload);
    };
    this.stop = await this.listener.listen(this.channel, pass, () => pass(this.afterGap));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop?.();
  }

  /** Calls `follower` with the payload of each notification; returns a function that stops this. */
  follow(follower: (payload: string) => void): () => void {
    this.followers.add(follower);
    return () => void this.followers.delete(follower);
  }
}
