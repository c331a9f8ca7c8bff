import { SYSTEM_ACTOR } from '@gatehouse/auth';
import { PgListener } from '@gatehouse/persistence';
import { AppError, clientAddress, JsonLogger, pendingSource } from '@gatehouse/platform';
import type { IpRules } from '@gatehouse/tunnel-kernel';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Request, RequestHandler } from 'express';
import type { EntityManager } from 'typeorm';
import { OwnedRows } from '../data/owned-rows.js';
import { Countries } from './countries.js';
import { compileRules } from '../common/legible-rules.js';
import { toRuleConfig } from './rule-config.js';

/** Of every change of the configuration, address rules included. */
const CHANNEL = 'tunnel_gateway:config';
/** What was not heard of holds after this. */
const RENEW_MS = 60_000;
/** Who checks that there is a way in sees what others changed, until the transaction ends. */
const ONE_AT_A_TIME = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.console_rules'))`;
const OF_CONSOLE = [{ sql: `row.scope = 'console'` }];
/** Whoever watches the service has to reach it, and pages for visitors of tunnels are not the console. */
const OPEN = /^\/(?:healthz$|readyz$|visit\/)/;

/** Which addresses reach the console and its API at all: asked before anything else, logins included. */
@Injectable()
export class ConsoleRules implements OnModuleInit, BeforeApplicationShutdown {
  /** Null: there are none. */
  private rules: IpRules | null = null;
  private current: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private stopListening: (() => Promise<void>) | undefined;

  constructor(
    private readonly owned: OwnedRows,
    private readonly listener: PgListener,
    private readonly countries: Countries,
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
    // No hint that there are rules, nor which.
    const decide = (): void => next(this.admits(request) ? undefined : new AppError('FORBIDDEN'));
    if (source === undefined) decide();
    else void source.finally(decide);
  };

  /** Whether whoever sent a request would be let in now. */
  admits(request: Request): boolean {
    return this.rules === null || this.rules.decideConsole(clientAddress(request).ip) === null;
  }

  /** From now on the rules hold that are committed. Never rejects: the ones before stay while the database is away. */
  refresh(): Promise<void> {
    this.next ??= this.current.then(() => {
      this.next = undefined;
      this.current = this.load();
      return this.current;
    });
    return this.next;
  }

  /** @throws AppError SELF_LOCKOUT when `tx` leaves rules that would refuse this address */
  async requireWayIn(address: string, tx: EntityManager): Promise<void> {
    await tx.query(ONE_AT_A_TIME);
    const rules = await this.read(tx);
    if (rules === null || rules.decideConsole(address) === null) return;
    throw new AppError('SELF_LOCKOUT', `${address} could not reach the console any more; say force if that is meant`);
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
    const { countryOf, strict: geoStrict } = this.countries;
    return rows.length === 0 ? null : compileRules(rows.map(toRuleConfig), { countryOf, geoStrict });
  }
}
