import { SYSTEM_ACTOR } from '@gatehouse/auth';
import { PgListener } from '@gatehouse/persistence';
import { AppError, clientAddress, JsonLogger, pendingSource } from '@gatehouse/platform';
import type { IpRules } from '@gatehouse/tunnel-kernel';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Request, RequestHandler } from 'express';
import type { EntityManager } from 'typeorm';
import { OwnedRows } from '../data/owned-rows.js';
import { RuleLists } from './rule-lists.js';
import { RuleDatabases } from './rule-databases.js';
import { compileRules } from '../common/legible-rules.js';
import { toRuleConfig } from './rule-config.js';
import { withRequests } from './rule-requests.js';

/** Notifies about every change of the configuration, including address rules. */
const CHANNEL = 'tunnel_gateway:config';
/** Missed notifications take effect after this time. */
const RENEW_MS = 60_000;
/** A transaction that checks for lockouts must see the changes of others. */
const ONE_AT_A_TIME = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.console_rules'))`;
const OF_CONSOLE = [{ sql: `row.scope = 'console'` }];
/** Always open: monitoring must reach the service, and visitors' pages are not part of the console. */
const OPEN = /^\/(?:healthz$|readyz$|visit\/)/;

/** Address rules for the console and its API: checked before anything else, including logins. */
@Injectable()
export class ConsoleRules implements OnModuleInit, BeforeApplicationShutdown {
  /** Null: there are no rules. */
  private rules: IpRules | null = null;
  private current: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private stopListening: (() => Promise<void>) | undefined;

  constructor(
    private readonly owned: OwnedRows,
    private readonly listener: PgListener,
    private readonly databases: RuleDatabases,
    private readonly lists: RuleLists,
    private readonly logger: JsonLogger,
  ) {}

  async onModuleInit(): Promise<void> {
    const refresh = (): void => void this.refresh();
    this.stopListening = await this.listener.listen(CHANNEL, refresh, refresh, { renewMs: RENEW_MS });
    this.rules = await this.read();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopListening?.();
    await this.current;
  }

  readonly entrance: RequestHandler = (request, _response, next) => {
    if (this.rules === null || OPEN.test(request.path)) return next();
    const source = pendingSource(request);
    // The answer does not reveal that there are rules.
    const decide = (): void => next(this.admits(request) ? undefined : new AppError('FORBIDDEN'));
    if (source === undefined) decide();
    else void source.finally(decide);
  };

  /** Whether the sender of a request would be admitted now. */
  admits(request: Request): boolean {
    return this.rules === null || this.rules.decideConsole(clientAddress(request).ip) === null;
  }

  /** Loads the committed rules. Never rejects: if the database is away, the current ones stay. */
  refresh(): Promise<void> {
    this.next ??= this.current.then(() => {
      this.next = undefined;
      this.current = this.load();
      return this.current;
    });
    return this.next;
  }

  /** @throws AppError SELF_LOCKOUT if the rules in `tx` would refuse this address */
  async requireWayIn(address: string, tx: EntityManager): Promise<void> {
    await tx.query(ONE_AT_A_TIME);
    const rules = await this.read(tx);
    if (rules === null || rules.decideConsole(address) === null) return;
    throw new AppError(
      'SELF_LOCKOUT',
      `${address} could no longer reach the console; set force to save the rule anyway`,
    );
  }

  private async load(): Promise<void> {
    try {
      this.rules = await this.read();
    } catch (error) {
      this.logger.warn(
        'the address rules of the console could not be read: those before stay',
        { error },
        'ConsoleRules',
      );
    }
  }

  private async read(tx?: EntityManager): Promise<IpRules | null> {
    const rows = await this.owned.ipRules(SYSTEM_ACTOR, tx).some(OF_CONSOLE);
    if (rows.length === 0) return null;
    await this.lists.load(rows, tx);
    const rules = await withRequests(tx ?? this.owned.options, rows);
    return compileRules(rules.map(toRuleConfig), this.databases.options);
  }
}
