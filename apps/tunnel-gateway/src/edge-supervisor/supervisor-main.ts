/** The supervisor of the service's own edge: says nothing, reads no environment, and is told on standard input what to be. */
import { text } from 'node:stream/consumers';
import { SupervisorProgram } from './supervisor-program.js';
import { forkEdge } from './fork-edge.js';
import type { SupervisorStart } from '../common/supervisor-calls.js';

const start = JSON.parse(await text(process.stdin)) as SupervisorStart;
const supervisor = new SupervisorProgram({ start, launch: forkEdge, onEnd: (code) => process.exit(code) });
// The service says when it is over. A signal is for the whole group, or from somebody who looks for what is left.
process.on('SIGTERM', () => void supervisor.end(0));
process.on('SIGHUP', () => undefined);
process.on('SIGINT', () => undefined);
await supervisor.start();
