import { UnitOfWork } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';

const EVERY_MS = 5_000;

/** Several services may look at once; each row is deleted by one of them. Tunnels and hosts go with their client. */
const REMOVE = `
  DELETE FROM tunnel_gateway.clients WHERE id IN (
    SELECT client_id FROM tunnel_gateway_ops.client_leases WHERE until < now()
    ORDER BY until LIMIT 100 FOR UPDATE SKIP LOCKED)`;

/** Deletes temporary clients whose lease is over. */
@Injectable()
export class ClientLeases implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | null = null;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly logger: JsonLogger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.running ??= this.look().finally(() => (this.running = null));
    }, EVERY_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** Returns how many clients were deleted. */
  async sweep(): Promise<number> {
    return this.unitOfWork.run(async (tx) => ((await tx.query(REMOVE)) as [unknown[], number])[1]);
  }

  private async look(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.logger.debug('temporary clients cannot be looked at', { error: String(error) }, 'ClientLeases');
    }
  }
}
