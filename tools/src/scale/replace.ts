import { eventuallyTrue } from '../trials/eventually-true.js';
import type { Copy } from './copy.js';
import { GRACE_MS, OPEN_MS } from './environments.js';
import type { Fleet } from './fleet.js';
import type { PlatformLoad } from './platform-load.js';
import type { Kind, Tally } from './user-streams.js';
import { accepts, type Flow } from './visits.js';

const BACK_MS = 150_000;
const NOTICE_MS = 1_000;

/** What users noticed of one replacement. */
export interface Replacement extends Record<Kind, Tally> {
  name: string;
  /** Connections that were open, and which of them broke before they ended by themselves. */
  flows: number;
  cut: string[];
  stopSeconds: number;
  backSeconds: number;
  /** What went wrong besides. */
  problems: string[];
}

/** Ends a process in order and starts one of the build in `root` in its place, under load. */
export async function replaceCopy(fleet: Fleet, load: PlatformLoad, copy: Copy, root: string): Promise<Replacement> {
  return watched(load, copy.name, {
    stop: () => copy.stop(),
    isClosed: async () => !(await accepts(copy.place)),
    start: () => copy.start(root),
    isBack: async () => fleet.isReady(copy) && (await load.isServedBy(copy)),
    problems: () => (copy.crashes > 0 ? [`${copy.name} crashed ${copy.crashes} times`] : []),
  });
}

/** The same for one of the agents. */
export async function replaceAgent(load: PlatformLoad, index: number, root: string): Promise<Replacement> {
  const { agentCopies } = load;
  return watched(load, `agent ${index + 1}`, {
    stop: async () => (await agentCopies.end(index)) === 0,
    isClosed: () => Promise.resolve(true),
    start: () => Promise.resolve(agentCopies.start(index, root)),
    isBack: () => Promise.resolve(true),
    problems: () => (agentCopies.requireRunning(), []),
  });
}

interface Replaced {
  /** Resolves with whether it ended by itself. */
  stop(): Promise<boolean>;
  /** Whether it accepts nobody. */
  isClosed(): Promise<boolean>;
  start(): Promise<void>;
  isBack(): Promise<boolean>;
  problems(): string[];
}

async function watched(load: PlatformLoad, name: string, replaced: Replaced): Promise<Replacement> {
  const problems: string[] = [];
  const since = performance.now();
  const { flows, refused } = await load.openFlows();
  const cut = new Set([...refused, ...(await broken(flows, 'before'))]);
  const stopping = replaced.stop();
  if (!(await eventuallyTrue(() => replaced.isClosed(), OPEN_MS + GRACE_MS / 2))) problems.push('it stayed open');
  for (const flow of await broken(flows, 'while it stopped')) cut.add(flow);
  await Promise.all(flows.map((flow) => flow.end()));
  if (!(await stopping)) problems.push('it had to be killed');
  const stopped = performance.now();
  await replaced.start();
  if (!(await eventuallyTrue(() => replaced.isBack(), BACK_MS))) problems.push('it did not come back');
  const back = performance.now();
  // haproxy gives it visitors again, too.
  await eventuallyTrue(() => Promise.resolve(performance.now() > back + NOTICE_MS));
  return {
    name,
    ...(await load.streams.since(since)),
    flows: flows.length + refused.length,
    cut: [...cut],
    stopSeconds: (stopped - since) / 1_000,
    backSeconds: (back - stopped) / 1_000,
    problems: [...problems, ...replaced.problems()],
  };
}

/** The names of those that carry nothing, and when that was found. */
export async function broken(flows: readonly Flow[], when?: string): Promise<string[]> {
  const answers = await Promise.all(flows.map((flow) => flow.answers()));
  const remark = when === undefined ? '' : ` (${when})`;
  return flows.flatMap(({ name }, at) => (answers[at] === true ? [] : [`${name}${remark}`]));
}

export function isClean({ requests, visitors, proxied, cut, problems }: Replacement): boolean {
  const failed = requests.failed + visitors.failed + proxied.failed;
  return failed === 0 && cut.length === 0 && problems.length === 0;
}
