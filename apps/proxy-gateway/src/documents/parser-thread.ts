import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { parseSubscription } from '@gatehouse/subscription-formats';
import type { ParseOptions } from '@gatehouse/subscription-formats';

/** Nodes per message: the receiver takes some milliseconds to unpack this many. */
const SLICE = 2_000;

/** Parses the one document that the thread was started with, and sends the result in slices, each on request. */
const { content, options } = workerData as { content: Uint8Array; options: ParseOptions };
const { nodes, ...rest } = parseSubscription(content, options);
for (let start = 0; start < nodes.length; start += SLICE) {
  // Nobody needs the source text of an entry after parsing.
  parentPort?.postMessage(nodes.slice(start, start + SLICE).map((entry) => ({ ...entry, raw: '' })));
  if (parentPort) await once(parentPort, 'message');
}
parentPort?.postMessage({ ...rest, nodes: [] });
// An open port would keep the thread alive.
parentPort?.close();
