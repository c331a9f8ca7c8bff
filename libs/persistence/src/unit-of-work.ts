import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { limitSilence, type Patience, SERVICE_PATIENCE, sqlStateOf } from '@gatehouse/postgres';
import { Injectable, Logger } from '@nestjs/common';
import type pg from 'pg';
import {
  DataSource,
  type EntityManager,
  type QueryRunner,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import { LAYER_POOL_SIZE, layerOfWork } from './layered-pool.js';
import { TransactionSlots } from './transaction-slots.js';

export type IsolationLevel = 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';
export type AfterCommitHook = () => void | Promise<void>;
/** The last step of each transaction of a request, such as recording that it was executed. */
export type BeforeCommitHook = (tx: EntityManager) => Promise<void>;

export interface UnitOfWorkOptions {
  isolation?: IsolationLevel;
  /** For work that may take longer than anyone waits for an answer: `JOB_PATIENCE`. */
  patience?: Patience;
}

/** Deadlock, serialization failure: the same work can succeed when repeated. */
const REPEATED = new Set(['40P01', '40001']);
const ATTEMPTS = 4;
const PAUSE_MS = 20;
/** Connections that transactions leave free, so that reads are answered while transactions wait for locks. */
const KEPT_FOR_READS = 3;

/** Keyed by query runner: nested managers of one transaction share it. */
const hooks = new WeakMap<QueryRunner, AfterCommitHook[]>();

interface Flow {
  request?: { beforeCommit: BeforeCommitHook | null } | undefined;
  /** A transaction of this flow has a slot. Nested work needs none: it would wait for itself. */
  hasSlot: boolean;
}

const flows = new AsyncLocalStorage<Flow>();

/** One transaction per call, passed on explicitly as `tx`. */
@Injectable()
export class UnitOfWork {
  private readonly logger = new Logger(UnitOfWork.name);
  private readonly slots: TransactionSlots;
  /** Of the work in the layer, so that it takes none of the others, however much of it there is. */
  private readonly layerSlots = new TransactionSlots(LAYER_POOL_SIZE - 1);

  constructor(private readonly dataSource: DataSource) {
    const { poolSize = 1 } = dataSource.options as { poolSize?: number };
    this.slots = new TransactionSlots(Math.max(1, poolSize - KEPT_FOR_READS));
  }

  /**
   * Runs the work in a transaction: commits when it resolves, rolls back and rejects when it rejects. Work that met a
   * deadlock or a serialization failure is rolled back and repeated, so its effects outside `tx` must allow that. Hooks
   * run after the commit, in order, before this resolves; a failing hook is logged, because the commit cannot be
   * undone.
   */
  async run<T>(work: (tx: EntityManager) => Promise<T>, options: UnitOfWorkOptions = {}): Promise<T> {
    const flow = flows.getStore();
    const attempts = (): Promise<Committed<T>> => this.repeat(work, options);
    const { result, registered } = await (flow?.hasSlot
      ? attempts()
      : (layerOfWork() === undefined ? this.slots : this.layerSlots).use(() =>
          flows.run({ request: flow?.request, hasSlot: true }, attempts),
        ));
    for (const hook of registered) await this.runHook(hook);
    return result;
  }

  private async repeat<T>(work: (tx: EntityManager) => Promise<T>, options: UnitOfWorkOptions): Promise<Committed<T>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(work, options);
      } catch (error) {
        if (attempt === ATTEMPTS || !REPEATED.has(sqlStateOf(error))) throw error;
        await delay(PAUSE_MS * attempt * (1 + Math.random()));
      }
    }
  }

  private async attempt<T>(
    work: (tx: EntityManager) => Promise<T>,
    { isolation = 'READ COMMITTED', patience }: UnitOfWorkOptions,
  ): Promise<Committed<T>> {
    const registered: AfterCommitHook[] = [];
    const transaction = this.dataSource.transaction(isolation, async (tx) => {
      const runner = queryRunnerOf(tx);
      hooks.set(runner, registered);
      const usual = patience && (await bePatient(runner, patience));
      try {
        const made = await work(tx);
        await flows.getStore()?.request?.beforeCommit?.(tx);
        return made;
      } finally {
        usual?.();
      }
    });
    const result = await transaction.catch((error: unknown) => {
      throw asConnectionEnded(error);
    });
    return { result, registered };
  }

  private async runHook(hook: AfterCommitHook): Promise<void> {
    try {
      await hook();
    } catch (error) {
      this.logger.error(
        'A hook failed after its transaction was committed',
        error instanceof Error ? error.stack : String(error),
      );
    }
  }
}

interface Committed<T> {
  result: T;
  registered: readonly AfterCommitHook[];
}

/** Registers a hook to run after the unit of work that `tx` belongs to has been committed; never after a rollback. */
export function afterCommit(tx: EntityManager, hook: AfterCommitHook): void {
  const registered = hooks.get(queryRunnerOf(tx));
  if (registered === undefined) throw new TypeError('afterCommit() needs the tx of a running UnitOfWork.run().');
  registered.push(hook);
}

/** Every unit of work in `work` runs `beforeCommit` last, in its transaction: both happen, or neither. */
export async function beforeEachCommit<T>(beforeCommit: BeforeCommitHook, work: () => Promise<T>): Promise<T> {
  const request: NonNullable<Flow['request']> = { beforeCommit };
  try {
    return await flows.run({ request, hasSlot: false }, work);
  } finally {
    // Work that it left running in the background is no longer part of the request.
    request.beforeCommit = null;
  }
}

async function bePatient(runner: QueryRunner, patience: Patience): Promise<() => void> {
  const client = (await runner.connect()) as pg.ClientBase;
  const { statementMs, lockMs } = patience;
  limitSilence(client, patience);
  await runner.query(`SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs}`);
  // The server's own limits end with the transaction.
  return () => limitSilence(client, SERVICE_PATIENCE);
}

function queryRunnerOf(tx: EntityManager): QueryRunner {
  if (tx.queryRunner === undefined) throw new TypeError('This entity manager is not in a transaction.');
  return tx.queryRunner;
}

/** The server ended the connection between two statements of a transaction: nothing was committed. */
class ConnectionEndedError extends Error {
  override readonly name = 'ConnectionEndedError';
  /** For `mayPass`: the same work may succeed in a moment. */
  readonly temporary = true;

  constructor(cause: unknown) {
    super('The connection to the database ended during a transaction', { cause });
  }
}

/**
 * For errors of a transaction that is still running. TypeORM returns a connection that broke between two statements at
 * once, and reports the next statement as a mistake of its caller.
 */
function asConnectionEnded(error: unknown): unknown {
  const isReleased =
    error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError;
  return isReleased ? new ConnectionEndedError(error) : error;
}
