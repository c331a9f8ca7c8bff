// Stands where `npm start` stands: starts the service, hands its messages on, and can be killed.
import { fork } from 'node:child_process';

const [program = ''] = process.argv.slice(2);
let service;
function start(env) {
  service = fork(program, [], { env, detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  service.on('message', (message) => process.send?.({ ...message, pid: service.pid }));
  service.on('exit', (code, signal) => process.send?.({ type: 'exit', code, signal }));
}
process.on('message', ({ start: env }) => start(env));
