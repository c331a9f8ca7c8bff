import type { QueueName } from '@gatehouse/contracts';
import type { ServiceSettings } from '@gatehouse/platform';
import type { Type } from '@nestjs/common';
import type { ServiceDatabase } from './service-database.js';

/** What is different from one service to the next, but for its modules. */
export interface ServiceDescription<S extends ServiceSettings> {
  /** Such as `proxy-gateway`. Its variables begin with the same name in capitals: `PROXY_GATEWAY_PORT`. */
  readonly name: string;
  /** The class of its settings, by which they are injected. */
  readonly settings: Type<S>;
  /** @throws SettingsError naming every bad, missing and unknown variable. */
  readonly readSettings: () => Readonly<S>;
  readonly database: ServiceDatabase;
  /** Its queues of jobs. Each has one handler among the modules of the worker. */
  readonly queues: readonly QueueName[];
}
