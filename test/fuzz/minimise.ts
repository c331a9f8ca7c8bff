import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { MAX_MEMORY_MB } from './limits.js';

const PATIENCE_MS = 3_000;
const MAX_RUNS = 150;

/** A shorter input that breaks a rule too: parts are left out while it still does. */
export async function minimise(target: string, input: Buffer): Promise<Buffer> {
  let smallest = input;
  let runs = 0;
  for (
    let size = Math.ceil(input.length / 2);
    size >= 1 && runs < MAX_RUNS;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < smallest.length && runs < MAX_RUNS;) {
      const shorter = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
      runs += 1;
      if (await breaks(target, shorter)) smallest = shorter;
      else at += size;
    }
  }
  return smallest;
}

/** Each in a thread of its own: it may never come back. */
async function breaks(target: string, input: Buffer): Promise<boolean> {
  const worker = new Worker(fileURLToPath(new URL('./replay-thread.ts', import.meta.url)), {
    workerData: { target, input },
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(true), PATIENCE_MS);
  worker.once('message', (problem: string | null) => resolve(problem !== null));
  worker.once('error', () => resolve(true));
  const result = await promise;
  clearTimeout(timer);
  await worker.terminate();
  return result;
}
