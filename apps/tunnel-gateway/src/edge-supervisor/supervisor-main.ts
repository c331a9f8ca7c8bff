/**
 * The supervisor of the service's own edge: prints nothing, reads no environment, and gets its options on standard
 * input.
 */
import { text } from 'node:stream/consumers';
import { SupervisorProgram } from './supervisor-program.js';
import { forkEdge } from './fork-edge.js';
import type { SupervisorStart } from '../common/supervisor-calls.js';

const start = JSON.parse(await text(process.stdin)) as SupervisorStart;
const supervisor = new SupervisorProgram({ start, launch: forkEdge, onEnd: (code) => process.exit(code) });
// The service decides when it ends. A signal may be meant for the whole process group.
process.on('SIGTERM', () => void supervisor.end(0));
process.on('SIGHUP', () => undefined);
process.on('SIGINT', () => undefined);
await supervisor.start();
