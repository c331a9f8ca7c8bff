import { setTimeout as delay } from 'node:timers/promises';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { OwnPostgres } from '../trials/own-postgres.js';
import type { RedisProcess } from '../trials/redis-process.js';
import type { Copy } from './copy.js';
import type { Fleet } from './fleet.js';
import type { PlatformLoad } from './platform-load.js';

/** Others take the place of one that ends at once. */
const REFUSED_MS = 1_000;
/** Longer than the lease of an edge lives. */
const CUT_MS = 20_000;
/** Longer than a peer that says nothing is waited for: three heartbeats. */
const SILENT_MS = 40_000;

/** What can be harmed. */
export interface FaultStage {
  fleet: Fleet;
  load: PlatformLoad;
  postgres: OwnPostgres;
  redis: RedisProcess | undefined;
}

export interface ScaleFault {
  name: string;
  /** The copy whose open connections end by it; nobody else's may. Undefined: nobody's. */
  costs?: string;
  /** Until then new visitors may be refused, milliseconds after it began. Undefined: as long as it lasts. */
  refusesMs?: number;
  /** Does the harm, and undoes it where it would last. */
  strike(): Promise<void>;
  /** Whether what was harmed serves again. */
  isBack(): Promise<boolean>;
}

/** Everything that is tried, in this order. */
export function scaleFaults(stage: FaultStage): ScaleFault[] {
  const { fleet, load, postgres, redis } = stage;
  const nothing = (): Promise<boolean> => Promise.resolve(true);
  return [
    ...fleet.copies.map((copy) => killed(stage, copy)),
    ...load.agentCopies.indexes.map((index) => ({
      name: `kill -9 of agent ${index + 1}`,
      // The program does not say through which agent a visitor is served.
      costs: 'edge',
      strike: async () => {
        await load.agentCopies.kill(index);
        load.agentCopies.start(index, ROOT);
      },
      isBack: nothing,
    })),
    { name: 'kill -9 of PostgreSQL', strike: () => again(postgres.kill(), postgres), isBack: nothing },
    { name: 'PostgreSQL stopped cleanly', strike: () => again(postgres.stop(), postgres), isBack: nothing },
    ...(redis === undefined ? [] : redisFaults(redis)),
    ...fleet
      .copiesOf('edge')
      .slice(0, 1)
      .flatMap((edge) => cutOff(stage, edge)),
  ];
}

const killed = ({ fleet, load }: FaultStage, copy: Copy): ScaleFault => ({
  name: `kill -9 of ${copy.name}`,
  costs: copy.name,
  refusesMs: REFUSED_MS,
  strike: async () => {
    if (!(await copy.kill())) throw new Error(`${copy.name} was not started again`);
  },
  isBack: async () => (await copy.isReady()) && fleet.isReady(copy) && load.isServedBy(copy),
});

const redisFaults = (redis: RedisProcess): ScaleFault[] => [
  {
    name: 'Redis killed, and back without its data',
    strike: () => again(redis.stop(), redis),
    isBack: () => Promise.resolve(true),
  },
  {
    name: 'Redis stopped cleanly, and back with its data',
    strike: () => again(redis.park(), redis),
    isBack: () => Promise.resolve(true),
  },
];

/** An edge whose network to the database, or to its agents, carries nothing for a while. Nobody hears of it. */
function cutOff({ fleet, load }: FaultStage, edge: Copy): ScaleFault[] {
  const lines = fleet.linesOf(edge);
  const isBack = (): Promise<boolean> => load.isServedBy(edge);
  return [
    {
      name: `${edge.name} cut from the database for ${CUT_MS / 1_000} s`,
      strike: () => silent(lines.database, CUT_MS),
      isBack,
    },
    {
      name: `${edge.name} cut from its agents for ${SILENT_MS / 1_000} s`,
      costs: edge.name,
      strike: () => silent(lines.agents, SILENT_MS),
      isBack,
    },
  ];
}

async function silent(line: { freeze(): void; thaw(): void }, forMs: number): Promise<void> {
  line.freeze();
  await delay(forMs);
  line.thaw();
}

async function again(ended: Promise<void>, what: { start(): Promise<void> }): Promise<void> {
  await ended;
  await what.start();
}
