import { setTimeout as delay } from 'node:timers/promises';
import { Chance } from '../trials/chance.js';

/** What people do over and over, and what has to be so in the end. */
export interface Work {
  name: string;
  /** One thing from beginning to end, of the person's choice; `turn` says which replica is asked first. */
  step(turn: number, chance: Chance): Promise<void>;
  /** Promises to clients that the data do not keep, in words, each once where it can be. Nothing is under way meanwhile. */
  brokenPromises(): Promise<string[]>;
}

const REST_MS = 15;

/** People at work: each does one thing after the other. */
export class Load {
  private readonly stopping = new AbortController();
  private readonly people: Promise<void>[];
  readonly failures: string[] = [];

  /** Each person has choices of their own, so that no answer that comes late changes those of others. */
  constructor(works: readonly Work[], peopleEach: number, chance: Chance) {
    this.people = works.flatMap((work) =>
      Array.from({ length: peopleEach }, (_, person) => this.run(work, person, new Chance(chance.below(2 ** 31)))),
    );
  }

  /** Resolves when everything that was begun has its answer. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.people);
  }

  private async run(work: Work, person: number, chance: Chance): Promise<void> {
    const { signal } = this.stopping;
    for (let turn = person; !signal.aborted; turn += 1) {
      try {
        await work.step(turn, chance);
      } catch (error) {
        this.failures.push(`${work.name}: ${(error as Error).message}`);
      }
      await delay(REST_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
