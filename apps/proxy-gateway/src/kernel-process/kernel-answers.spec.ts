import { describe, expect, it } from 'vitest';
import type { KernelInUse } from '../common/kernel-ipc.js';
import { KernelAnswers } from './kernel-answers.js';
import type { KernelFleet } from './kernel-fleet.js';

type Answers = Record<string, readonly unknown[]>;

/** Kernels that answer this, and what they were asked. */
class ScriptedAnswers extends KernelAnswers {
  readonly program = 'embedded';
  readonly asked: string[] = [];
  protected readonly fleet: KernelFleet;

  constructor(answers: Answers) {
    super();
    const askAll = (method: string): Promise<{ answer: unknown }[]> => {
      this.asked.push(method);
      return Promise.resolve((answers[method] ?? []).map((answer) => ({ answer })));
    };
    this.fleet = { askAll } as unknown as KernelFleet;
  }

  protected translated<T>(answer: Promise<T>): Promise<T> {
    return answer;
  }
}

const state = (now: string) => ({ name: 'AUTO', type: 'url-test' as const, now, fixed: false });
const used = (connections: number) => ({ AUTO: { connections, upload: 1, download: 2 } });
const part = (now: string, connections: number): KernelInUse => ({ groups: [state(now)], usage: used(connections) });

describe('what kernels use', () => {
  it('is asked for once by all who ask in the same turn, and merged', async () => {
    const kernels = new ScriptedAnswers({ inUse: [part('n1', 2), part('n2', 3), part('n2', 4)] });
    const [one, other] = await Promise.all([kernels.inUse(), kernels.inUse()]);
    expect(one).toEqual({
      groups: [state('n2')],
      usage: { AUTO: { connections: 9, upload: 3, download: 6 } },
    });
    expect(other).toBe(one);
    await kernels.inUse();
    expect(kernels.asked).toEqual(['inUse', 'inUse']);
  });

  it('is asked for in two calls if one of the kernels is of an older version', async () => {
    const kernels = new ScriptedAnswers({
      inUse: [part('n1', 2), undefined],
      groupsInUse: [[state('n1')], [state('n1')]],
      usage: [used(2), used(5)],
    });
    expect(await kernels.inUse()).toEqual({
      groups: [state('n1')],
      usage: { AUTO: { connections: 7, upload: 2, download: 4 } },
    });
    expect(kernels.asked).toEqual(['inUse', 'groupsInUse', 'usage']);
  });
});
