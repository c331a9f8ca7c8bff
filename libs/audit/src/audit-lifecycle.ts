import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AuditStore } from './chain/audit-store.js';
import { AuditWitness } from './witness/audit-witness.js';

const EVERY_MS = 60_000;

/**
 * Sends the head to the witness at the start and every minute, even if another process wrote it; writes the rest at the
 * end.
 */
@Injectable()
export class AuditLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: AuditStore,
    private readonly witness: AuditWitness,
    private readonly logger: JsonLogger,
  ) {}

  onApplicationBootstrap(): void {
    void this.look();
    this.timer = setInterval(() => void this.look(), EVERY_MS);
    this.timer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.witness.flush();
  }

  private async look(): Promise<void> {
    try {
      this.witness.saw(await this.store.head());
    } catch (error) {
      this.logger.debug('the head of the audit log could not be read', { error: String(error) }, 'Audit');
    }
  }
}
