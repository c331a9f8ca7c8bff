// The tunnel's agent alone in a process.
import { TunnelAgent } from '@gatehouse/tunnel-kernel';

const [door, key, lanes] = process.argv.slice(2);
const quiet = () => {};
const agent = new TunnelAgent({
  server: { host: '127.0.0.1', port: Number(door) },
  key,
  now: Date.now,
  datagrams: { packets: lanes !== 'lanes' },
  logger: { debug: quiet, info: quiet, warn: quiet, error: console.error },
  events: { configured: () => process.send({ online: true }) },
});
agent.start();
process.on('disconnect', () => process.exit(0));
