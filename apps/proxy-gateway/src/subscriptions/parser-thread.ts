import { parentPort, workerData } from 'node:worker_threads';
import { parseSubscription } from '@gatehouse/subscription-formats';
import type { ParseOptions } from '@gatehouse/subscription-formats';

/** Parses the one document that it was started with, answers, and ends. */
const { content, options } = workerData as { content: Uint8Array; options: ParseOptions };
parentPort?.postMessage(parseSubscription(content, options));
