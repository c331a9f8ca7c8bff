// The tunnel's agent for the soak.
import { TunnelAgent } from '@gatehouse/tunnel-kernel';

const [door, key] = process.argv.slice(2);
const quiet = () => {};
const agent = new TunnelAgent({
  server: { host: '127.0.0.1', port: Number(door) },
  key,
  now: Date.now,
  logger: { debug: quiet, info: quiet, warn: quiet, error: console.error },
  events: { configured: () => process.send({ online: true }) },
});
agent.start();
process.on('message', () => {
  globalThis.gc?.();
  agent.takeDeltas();
  const { heapUsed, external } = process.memoryUsage();
  process.send({ flows: agent.flows, live: heapUsed + external });
});
process.on('disconnect', () => process.exit(0));
