import { expect, it } from 'vitest';
import { nothingCarried, sumOfFigures, WorkerFigures } from './edge-figures.js';
import type { EdgeFigures } from './edge-ipc.js';

function figures(upload: number, denied: number): EdgeFigures {
  const { refusals } = sumOfFigures([]);
  const carried = nothingCarried();
  carried.tunnel = { connections: 1, upload, download: 2 * upload };
  return { carried, refusals: { ...refusals, address_denied: denied } };
}

it('adds up what several workers counted', () => {
  const sum = sumOfFigures([figures(10, 1), figures(5, 2)]);
  expect(sum.carried.tunnel).toEqual({ connections: 2, upload: 15, download: 30 });
  expect(sum.carried.host).toEqual({ connections: 0, upload: 0, download: 0 });
  expect(sum.refusals).toMatchObject({ address_denied: 3, too_many_connections: 0 });
});

it('never falls when a worker ends and another takes its place, or when one does not answer', () => {
  const workers = new WorkerFigures();
  workers.answered(0, 101, figures(10, 0));
  workers.answered(1, 102, figures(5, 0));
  expect(workers.total().carried.tunnel.upload).toBe(15);
  // The second does not answer: its last report still counts.
  workers.answered(0, 101, figures(12, 0));
  expect(workers.total().carried.tunnel.upload).toBe(17);
  workers.answered(1, 103, figures(1, 0));
  expect(workers.total().carried.tunnel.upload).toBe(18);
  workers.answered(1, 103, figures(2, 0));
  expect(workers.total().carried.tunnel.upload).toBe(19);
});
