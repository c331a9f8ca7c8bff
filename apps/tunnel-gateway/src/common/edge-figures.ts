import { ADMISSION_REFUSALS, type Refusals } from '@gatehouse/tunnel-kernel';
import type { CarriedFigures, EdgeFigures } from './edge-ipc.js';

const KINDS = ['tunnel', 'host'] as const;

export function nothingCarried(): EdgeFigures['carried'] {
  const nothing = (): CarriedFigures => ({ connections: 0, upload: 0, download: 0 });
  return { tunnel: nothing(), host: nothing() };
}

/** The sum of what several processes counted. */
export function sumOfFigures(all: readonly EdgeFigures[]): EdgeFigures {
  const carried = nothingCarried();
  const refusals = Object.fromEntries(ADMISSION_REFUSALS.map((reason) => [reason, 0])) as Refusals;
  for (const figures of all) {
    for (const kind of KINDS) {
      for (const what of ['connections', 'upload', 'download'] as const) {
        carried[kind][what] += figures.carried[kind][what];
      }
    }
    for (const reason of ADMISSION_REFUSALS) refusals[reason] += figures.refusals[reason];
  }
  return { carried, refusals };
}

interface Answered {
  readonly pid: number;
  readonly figures: EdgeFigures;
}

/**
 * The figures of several workers as one. The sum never falls: a worker that ended keeps its share, because Prometheus
 * takes a sum that falls for a restart of all, and would count the other workers twice.
 */
export class WorkerFigures {
  private ended: EdgeFigures = sumOfFigures([]);
  private readonly last = new Map<number, Answered>();

  /** The answer of the worker in a place. */
  answered(place: number, pid: number, figures: EdgeFigures): void {
    const before = this.last.get(place);
    if (before !== undefined && before.pid !== pid) this.ended = sumOfFigures([this.ended, before.figures]);
    this.last.set(place, { pid, figures });
  }

  total(): EdgeFigures {
    return sumOfFigures([this.ended, ...[...this.last.values()].map(({ figures }) => figures)]);
  }
}
