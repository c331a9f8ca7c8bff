import { Jobs } from '@gatehouse/jobs';
import { JsonLogger } from '@gatehouse/platform';
import type { ChannelFeed } from '@gatehouse/persistence';
import type { BeforeApplicationShutdown, FactoryProvider, OnApplicationBootstrap, Type } from '@nestjs/common';

/** Events within this time are delivered together. */
const GATHER_MS = 200;

/** Starts the delivery of new events soon; the schedule covers what it misses. */
class WebhookStarter implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | null = null;
  private leave: () => void = () => undefined;

  constructor(
    private readonly feed: ChannelFeed,
    private readonly jobs: Jobs,
    private readonly logger: JsonLogger,
  ) {}

  onApplicationBootstrap(): void {
    this.leave = this.feed.follow(() => {
      this.timer ??= setTimeout(() => void this.start(), GATHER_MS);
    });
  }

  beforeApplicationShutdown(): void {
    this.leave();
    if (this.timer) clearTimeout(this.timer);
  }

  private async start(): Promise<void> {
    this.timer = null;
    try {
      await this.jobs.add('webhook-fan-out', { requestedAt: Date.now() }, { attempts: 1 });
    } catch (error) {
      this.logger.warn('webhooks get their events later', { error: String(error) }, 'Webhooks');
    }
  }
}

/** The provider that starts deliveries when `feed` says so, in the process with the API. */
export function webhookStarter(feed: Type<ChannelFeed>): FactoryProvider {
  return {
    provide: WebhookStarter,
    useFactory: (news: ChannelFeed, jobs: Jobs, logger: JsonLogger) => new WebhookStarter(news, jobs, logger),
    inject: [feed, Jobs, JsonLogger],
  };
}
