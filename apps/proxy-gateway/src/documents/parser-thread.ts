import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { parseSubscription } from '@gatehouse/subscription-formats';
import type { ParseOptions } from '@gatehouse/subscription-formats';

/** Nodes handed over at once: the receiver takes some milliseconds to unpack so many. */
const SLICE = 2_000;

/** Parses the one document that it was started with and hands the result over in slices, the next when it is asked for. */
const { content, options } = workerData as { content: Uint8Array; options: ParseOptions };
const { nodes, ...rest } = parseSubscription(content, options);
for (let start = 0; start < nodes.length; start += SLICE) {
  // What an entry looked like is of no further use.
  parentPort?.postMessage(nodes.slice(start, start + SLICE).map((entry) => ({ ...entry, raw: '' })));
  if (parentPort) await once(parentPort, 'message');
}
parentPort?.postMessage({ ...rest, nodes: [] });
// It would be waited for otherwise.
parentPort?.close();
