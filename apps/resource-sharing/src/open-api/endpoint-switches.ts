import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { RevocableCache, whenThere, type Soon } from '../credentials/revocable-cache.js';
import { Revocations } from '../credentials/revocations.js';

export interface EndpointSwitch {
  /** Method and route, such as `POST /api/open/resources/unlock`. */
  readonly operation: string;
  readonly reason: string;
  readonly disabledAt: Date;
}

type Row = Record<string, unknown> & { operation: string; reason: string; disabled_at: Date };

/** Operations that an administrator has switched off; a change takes effect on every replica within a second. */
@Injectable()
export class EndpointSwitches {
  private readonly cache: RevocableCache<ReadonlySet<string>>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly revocations: Revocations,
  ) {
    this.cache = new RevocableCache(revocations, 1, () => ['endpoint:all']);
  }

  isDisabled(operation: string): Soon<boolean> {
    const known = this.cache.get('all', async () => {
      const found = await this.list();
      return new Set(found.map((entry) => entry.operation));
    });
    return whenThere(known, (disabled) => disabled?.has(operation) === true);
  }

  async list(): Promise<EndpointSwitch[]> {
    const { rows } = await pgPool(this.dataSource).query<Row>({
      name: 'endpoint_switches',
      text: 'SELECT operation, reason, disabled_at FROM endpoint_switches ORDER BY operation',
    });
    return rows.map(({ operation, reason, disabled_at }) => ({ operation, reason, disabledAt: disabled_at }));
  }

  async disable(operation: string, reason: string, actorId: number | null): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await tx.query(
        `INSERT INTO endpoint_switches (operation, reason) VALUES ($1, $2)
         ON CONFLICT (operation) DO UPDATE SET reason = excluded.reason`,
        [operation, reason],
      );
      await recordEvent(tx, { type: 'endpoint.disabled', actorId, details: { operation, reason } });
      await this.revocations.announce(tx, ['endpoint:all']);
    });
  }

  async enable(operation: string, actorId: number | null): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await tx.query('DELETE FROM endpoint_switches WHERE operation = $1', [operation]);
      await recordEvent(tx, { type: 'endpoint.enabled', actorId, details: { operation } });
      await this.revocations.announce(tx, ['endpoint:all']);
    });
  }
}
