// Many agents in one process, or bare TLS connections, with keys and port from a file; prints how many are online.
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { connect, createSecureContext } from 'node:tls';
import { TunnelAgent } from '@gatehouse/tunnel-kernel';

const { door, keys, bare, host = '127.0.0.1', addresses } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
if (addresses) answerWith(addresses);
/** So many are on their way at first: what is measured is not the start. */
const AT_A_TIME = 16;
const quiet = () => {};
const online = new Set();
let arrivals = [];

function start(key, index) {
  const agent = new TunnelAgent({
    server: { host, port: door },
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

/** A name with several addresses, each time in another order; a program tries them one after the other. */
function answerWith(list) {
  let turn = 0;
  dns.lookup = (_, options, callback) => {
    const first = turn++ % list.length;
    const ordered = [...list.slice(first), ...list.slice(0, first)].map((address) => ({ address, family: 4 }));
    process.nextTick(() => (options.all ? callback(null, ordered) : callback(null, ordered[0].address, 4)));
  };
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
