// A visitor and a target of UDP in one process: keeps `window` datagrams on their way and counts those that arrive.
import { createSocket } from 'node:dgram';

const LOST_AFTER_MS = 100;
const open = async () => {
  const socket = createSocket({
    type: 'udp4',
    recvBufferSize: 4 << 20,
    lookup: (host, _, done) => done(null, host, 4),
  });
  // With a lookup that answers at once, `listening` comes before `bind` returns.
  await new Promise((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return socket;
};
const target = await open();
let run = null;

target.on('message', (payload) => {
  if (!run || payload.readUInt32BE(0) !== run.number) return;
  run.arrived += 1;
  run.arrivedAt = performance.now();
  run.onWay -= 1;
  if (run.window === 1) run.delays.push(run.arrivedAt - run.sentAt);
  run.fill();
});

async function measure({ entry, size, seconds, window }, number) {
  const visitor = await open();
  const payload = Buffer.alloc(size);
  payload.writeUInt32BE(number, 0);
  run = { number, window, arrived: 0, lost: 0, onWay: 0, arrivedAt: performance.now(), sentAt: 0, delays: [] };
  run.fill = () => {
    while (run.onWay < window) {
      run.onWay += 1;
      run.sentAt = performance.now();
      visitor.send(payload, entry, '127.0.0.1');
    }
  };
  const watch = setInterval(() => {
    if (performance.now() - run.arrivedAt < LOST_AFTER_MS) return;
    run.lost += run.onWay;
    run.onWay = 0;
    run.arrivedAt = performance.now();
    run.fill();
  }, LOST_AFTER_MS / 2);
  run.fill();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const { arrived, lost, delays } = run;
  run = null;
  clearInterval(watch);
  visitor.close();
  delays.sort((a, b) => a - b);
  return { arrived, lost, p50: (delays[delays.length >> 1] ?? 0) * 1000 };
}

let number = 0;
process.on('message', (options) => void measure(options, ++number).then((result) => process.send(result)));
process.on('disconnect', () => process.exit(0));
process.send({ port: target.address().port });
