import { setTimeout as delay } from 'node:timers/promises';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { Breach } from '../security/attack.js';
import type { Bystanders, Notice } from './bystanders.js';
import type { Ground, Tenant } from './ground.js';
import type { Assault, HostileAttack } from './hostile-attack.js';
import { awaitRelease, census, changed, countDescriptors, type Census } from './processes.js';

const SETTLE_MS = 20_000;
const WELL_MS = 60_000;

export interface Outcome {
  attack: HostileAttack;
  sent: string;
  bystanders: string;
  /** Processes that ended. */
  ended: string[];
  held: string;
  findings: string[];
}

/** Does one attack, and looks at everybody else until all is as it was. */
export async function tryAttack(attack: HostileAttack, assault: Assault, bystanders: Bystanders): Promise<Outcome> {
  const { ground } = assault;
  await ground.awaitAgents();
  const before = census(ground);
  const descriptors = countDescriptors(before);
  const since = performance.now();
  const { sent, findings, untried } = await strike(attack, assault);
  if (untried !== undefined) findings.push(`could not be tried: ${untried}`);
  const ended = changed(before, census(ground));
  await reviveAgents(ground);
  const isWell = await eventuallyTrue(() => Promise.resolve(bystanders.areWell()), WELL_MS);
  if (!isWell) findings.push('bystanders are not well a minute later');
  const held = await awaitRelease(descriptors, ground, attack.settleMs ?? SETTLE_MS);
  if (!held.isBack) findings.push(`not given back: ${held.text}`);
  ended.push(...changed(before, census(ground)).filter((name) => !ended.includes(name)));
  const notice = await bystanders.noticeSince(since);
  findings.push(...ended.map((name) => `ended: ${name}`), ...notice.findings);
  return { attack, sent, bystanders: describe(notice), ended, held: held.text, findings };
}

export interface Struck {
  sent: string;
  findings: string[];
  /** Why it could not be tried. */
  untried?: string;
}

/** What the attacker itself sent and saw. */
export async function strike(attack: HostileAttack, assault: Assault): Promise<Struck> {
  try {
    return { sent: await attack.run(assault), findings: [] };
  } catch (error) {
    if (error instanceof Breach) return { sent: attack.name, findings: [error.message] };
    const untried = error instanceof Error ? error.message : String(error);
    return { sent: 'nothing', findings: [], untried };
  }
}

/** An agent that ended is started again, as its owner would. */
export async function reviveAgents(ground: Ground): Promise<void> {
  const gone = ([ground.attacker, ground.bystander] as Tenant[]).filter(({ agent }) => agent.pid === undefined);
  for (const tenant of gone) await ground.restartAgent(tenant);
}

export function describe({ requests, failed, cuts, slowest }: Notice): string {
  const worst = slowest.seconds >= 1 ? `, slowest ${slowest.seconds.toFixed(1)} s (${slowest.name})` : '';
  return `${failed} of ${requests} failed, ${cuts} cut${worst}`;
}

/** Reports each process that ended, with what went on at that time. */
export class Watchman {
  readonly incidents: string[] = [];
  readonly running = new Set<string>();
  private readonly stopping = new AbortController();
  private readonly watching: Promise<void>;
  private processes: Census;
  private readonly began = performance.now();

  constructor(
    private readonly ground: Ground,
    private readonly report: (line: string) => void,
  ) {
    this.processes = census(ground);
    this.watching = this.watch();
  }

  note(what: string): void {
    const minutes = ((performance.now() - this.began) / 60_000).toFixed(1);
    const line = `${what} (minute ${minutes}, during: ${[...this.running].join(', ') || 'nothing'})`;
    this.incidents.push(line);
    this.report(line);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.watching;
    this.look();
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      this.look();
      await reviveAgents(this.ground).catch((error: Error) => this.note(error.message));
      await delay(2_000, undefined, { signal }).catch(() => undefined);
    }
  }

  private look(): void {
    const now = census(this.ground);
    for (const name of changed(this.processes, now)) this.note(`ended: ${name}`);
    this.processes = new Map([...this.processes, ...now]);
  }
}
