// The proxy kernel alone in a process, with the configuration in the file that is named on the command line.
import { readFileSync } from 'node:fs';
import { createProxyKernel } from '@gatehouse/proxy-kernel';

const quiet = () => {};
const kernel = createProxyKernel({
  now: Date.now,
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  resolver: { resolve: async () => [] },
  country: () => null,
});
const { listeners } = await kernel.apply(JSON.parse(readFileSync(process.argv[2], 'utf8')));
process.send({ port: listeners[0].port });
process.on('disconnect', () => process.exit(0));
