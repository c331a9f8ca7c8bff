// Many agents in one process, or bare TLS connections, with keys and port from a file; prints how many are online.
import { readFileSync } from 'node:fs';
import { connect, createSecureContext } from 'node:tls';
import { TunnelAgent } from '@gatehouse/tunnel-kernel';

const { door, keys, bare } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
/** So many are on their way at first: what is measured is not the start. */
const AT_A_TIME = 16;
const quiet = () => {};
const online = new Set();
let arrivals = [];

function start(key, index) {
  const agent = new TunnelAgent({
    server: { host: '127.0.0.1', port: door },
    key,
    now: Date.now,
    transport: 'raw',
    datagrams: { packets: false },
    p2p: false,
    logger: { debug: quiet, info: quiet, warn: quiet, error: console.error },
    events: {
      status: ({ state }) => {
        if (state !== 'online') return void online.delete(index);
        online.add(index);
        arrivals.push(Date.now());
      },
    },
  });
  agent.start();
}

const secureContext = createSecureContext({ minVersion: 'TLSv1.3' });

function startBare(_, index) {
  const socket = connect({ port: door, host: '127.0.0.1', rejectUnauthorized: false, secureContext });
  socket.on('secureConnect', () => online.add(index));
  socket.on('error', console.error).on('data', quiet);
}

let next = 0;
const starting = setInterval(() => {
  for (; next < keys.length && next - online.size < AT_A_TIME; next++) (bare ? startBare : start)(keys[next], next);
  if (next === keys.length) clearInterval(starting);
}, 5);
setInterval(() => {
  process.send({ online: online.size, arrivals });
  arrivals = [];
}, 100);
process.send({ online: 0, arrivals: [] });
process.on('disconnect', () => process.exit(0));
