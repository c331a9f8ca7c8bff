import { run } from './commands.js';

const [name = '', ...args] = process.argv.slice(2);
process.exitCode = await run(name, args);
if (process.connected) process.disconnect?.();
