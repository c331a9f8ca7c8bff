/** Judges one input and says what is wrong with it. */
import { parentPort, workerData } from 'node:worker_threads';
import { judge } from './judge.js';
import { TARGETS } from './targets.js';

const { target, input } = workerData as { target: string; input: Uint8Array };
parentPort?.postMessage(judge(TARGETS[target]!, Buffer.from(input)));
