import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';

/** Connections of a process for its layer. They are opened when the first work comes. */
export const LAYER_POOL_SIZE = 2;

/**
 * A schema with tables of the same names as some of the service's. Work in the layer finds these first, and everything
 * else in the schema of the service: the same statements have an effect on other rows.
 */
export interface Layer {
  /** Schemas in which unqualified names are looked up before that of the service. The last one has the tables. */
  readonly searchPath: readonly [...string[], string];
  /** Those of the service's SQL files that are loaded into the layer, too. */
  readonly sqlFiles: readonly string[];
  /** Folder with the layer's own SQL files, which are applied last; it ends with a slash. */
  readonly sqlFolder: URL;
  /** The setting of PostgreSQL that says whose rows of the layer a connection works with. Its name has a full stop. */
  readonly setting: string;
}

const current = new AsyncLocalStorage<string | undefined>();

/**
 * Runs `work` in the layer: every connection that it takes from the data source, its pool or the unit of work finds the
 * layer's tables first, and has `whose` as the layer's setting. Undefined: outside the layer, whoever calls.
 */
export function withLayer<T>(whose: string | undefined, work: () => T): T {
  return current.run(whose, work);
}

/** Whose rows the work that runs now is for, for what collects the calls of many and writes them later. */
export function layerOfWork(): string | undefined {
  return current.getStore();
}

type PoolClass = typeof pg.Pool;
type Ended = (error?: Error) => void;
type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** A pool that hands out a connection of the layer to the work in it, from a second pool with these options. */
export function layeredPool(
  Pool: PoolClass,
  { setting }: Pick<Layer, 'setting'>,
  layerOptions: pg.PoolConfig,
): PoolClass {
  return class LayeredPool extends Pool {
    private layer: pg.Pool | undefined;

    override connect(): Promise<pg.PoolClient>;
    override connect(connected: Connected): void;
    override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
      const whose = current.getStore();
      if (whose === undefined) {
        if (connected === undefined) return super.connect();
        super.connect(connected);
        return undefined;
      }
      const client = this.layerClient(whose);
      if (connected === undefined) return client;
      client.then(
        (made) => connected(undefined, made, () => made.release()),
        (error: Error) => connected(error, undefined, () => undefined),
      );
      return undefined;
    }

    override end(): Promise<void>;
    override end(ended: Ended): void;
    override end(ended?: Ended): Promise<void> | undefined {
      const both = Promise.all([super.end(), this.layer?.end()]).then(() => undefined);
      if (ended === undefined) return both;
      both.then(() => ended(), ended);
      return undefined;
    }

    private async layerClient(whose: string): Promise<pg.PoolClient> {
      this.layer ??= this.openLayer();
      const client = await this.layer.connect();
      try {
        await client.query('SELECT set_config($1, $2, false)', [setting, whose]);
      } catch (error) {
        client.release(true);
        throw error;
      }
      return client;
    }

    private openLayer(): pg.Pool {
      const { options } = this as unknown as { options: pg.PoolConfig };
      // The pool hides the password from those who list its options.
      const pool = new Pool({ ...options, password: options.password, ...layerOptions });
      pool.on('error', (error, client) => this.emit('error', error, client));
      return pool;
    }
  };
}
