import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';

export type IsolationLevel = 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';
export type AfterCommitHook = () => void | Promise<void>;

/** Keyed by query runner: nested managers of one transaction share it. */
const hooks = new WeakMap<QueryRunner, AfterCommitHook[]>();

/** One transaction per call, handed on explicitly as `tx`. */
@Injectable()
export class UnitOfWork {
  private readonly logger = new Logger(UnitOfWork.name);

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs the work in a transaction: commits when it resolves, rolls back and rejects when it rejects. Hooks run after
   * the commit, in order, before this resolves; a failing hook is logged, for the commit cannot be undone.
   */
  async run<T>(work: (tx: EntityManager) => Promise<T>, options: { isolation?: IsolationLevel } = {}): Promise<T> {
    const registered: AfterCommitHook[] = [];
    const result = await this.dataSource.transaction(options.isolation ?? 'READ COMMITTED', async (tx) => {
      hooks.set(queryRunnerOf(tx), registered);
      return work(tx);
    });
    for (const hook of registered) await this.runHook(hook);
    return result;
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

/** Registers a hook to run after the unit of work that `tx` belongs to has been committed; never after a rollback. */
export function afterCommit(tx: EntityManager, hook: AfterCommitHook): void {
  const registered = hooks.get(queryRunnerOf(tx));
  if (registered === undefined) throw new TypeError('afterCommit() needs the tx of a running UnitOfWork.run().');
  registered.push(hook);
}

function queryRunnerOf(tx: EntityManager): QueryRunner {
  if (tx.queryRunner === undefined) throw new TypeError('This entity manager is not in a transaction.');
  return tx.queryRunner;
}
