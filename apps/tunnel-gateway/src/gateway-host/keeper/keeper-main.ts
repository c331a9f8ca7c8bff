/** The keeper of the service's own edge: says nothing, reads no environment, and is told on standard input what to be. */
import { text } from 'node:stream/consumers';
import { EdgeKeeper } from './edge-keeper.js';
import { forkEdge } from './fork-edge.js';
import type { KeeperStart } from './keeper-calls.js';

const start = JSON.parse(await text(process.stdin)) as KeeperStart;
const keeper = new EdgeKeeper({ start, launch: forkEdge, onEnd: (code) => process.exit(code) });
// The service says when it is over. A signal is for the whole group, or from somebody who looks for what is left.
process.on('SIGTERM', () => void keeper.end(0));
process.on('SIGHUP', () => undefined);
process.on('SIGINT', () => undefined);
await keeper.start();
