// The load, as a process of its own: asks over IPC, answers with what it measured.
import net from 'node:net';
import { once } from 'node:events';

const upload = Buffer.alloc(256 * 1024, 0x75);

/** Opens a connection to the target: straight to `entry`, or through SOCKS5 at `entry`. */
async function open({ entry, target, socks }) {
  const socket = net.connect({ port: entry, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  await once(socket, 'connect');
  if (!socks) return socket;
  socket.write(Buffer.from([5, 1, 0]));
  await read(socket, 2);
  socket.write(Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, target >> 8, target & 255]));
  const reply = await read(socket, 10);
  if (reply[1] !== 0) throw new Error(`SOCKS reply ${reply[1]}`);
  return socket;
}

/** Resolves with the next `count` bytes. Listens once and takes its listeners away again: it is called very often. */
function read(socket, count) {
  return new Promise((resolve, reject) => {
    const take = () => {
      const chunk = socket.read(count);
      if (chunk) done(() => resolve(chunk));
    };
    const fail = () => done(() => reject(new Error('the connection was closed')));
    const done = (settle) => {
      socket.off('readable', take).off('close', fail);
      settle();
    };
    const chunk = socket.read(count);
    if (chunk) return resolve(chunk);
    if (socket.destroyed) return reject(new Error('the connection was closed'));
    socket.on('readable', take).on('close', fail);
  });
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function throughput({ direction, seconds, streams, ...route }) {
  let bytes = 0;
  const sockets = await Promise.all(Array.from({ length: streams }, () => open(route)));
  const before = process.hrtime.bigint();
  for (const socket of sockets) {
    socket.write(direction === 'down' ? 'd' : 'u');
    if (direction === 'down') socket.on('data', (chunk) => (bytes += chunk.length));
    else pump(socket);
  }
  await sleep(seconds * 1000);
  const elapsed = Number(process.hrtime.bigint() - before) / 1e9;
  if (direction === 'up') bytes = sockets.reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, 0);
  for (const socket of sockets) socket.destroy();
  return { bytes, seconds: elapsed };
}

function pump(socket) {
  const fill = () => {
    while (!socket.destroyed && socket.write(upload));
  };
  socket.on('drain', fill);
  fill();
}

async function requests({ seconds, concurrency, size, ...route }) {
  const latencies = [];
  const message = Buffer.alloc(size, 0x71);
  let stop = false;
  const exchange = async () => {
    const socket = await open(route);
    socket.write('e');
    while (!stop) {
      const start = process.hrtime.bigint();
      socket.write(message);
      await read(socket, size);
      latencies.push(Number(process.hrtime.bigint() - start) / 1e3);
    }
    socket.destroy();
  };
  // mihomo takes a client whose port one of its own connections had a moment ago for itself, and closes the connection.
  const workers = Array.from({ length: concurrency }, async () => {
    while (!stop) await exchange().catch(() => {});
  });
  const before = process.hrtime.bigint();
  await sleep(seconds * 1000);
  stop = true;
  const elapsed = Number(process.hrtime.bigint() - before) / 1e9;
  await Promise.all(workers);
  return { count: latencies.length, seconds: elapsed, ...percentiles(latencies) };
}

async function connections({ seconds, concurrency, ...route }) {
  const latencies = [];
  let stop = false;
  let failed = 0;
  const connectOnce = async () => {
    const start = process.hrtime.bigint();
    const socket = await open(route);
    socket.write('e?');
    await read(socket, 1);
    latencies.push(Number(process.hrtime.bigint() - start) / 1e3);
    socket.resetAndDestroy(); // no TIME_WAIT: the ports of one machine are few
  };
  const workers = Array.from({ length: concurrency }, async () => {
    while (!stop) await connectOnce().catch(() => (failed += 1));
  });
  const before = process.hrtime.bigint();
  await sleep(seconds * 1000);
  stop = true;
  const elapsed = Number(process.hrtime.bigint() - before) / 1e9;
  await Promise.all(workers);
  return { count: latencies.length, failed, seconds: elapsed, ...percentiles(latencies) };
}

function percentiles(values) {
  values.sort((a, b) => a - b);
  const at = (share) => values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

const modes = { throughput, requests, connections };
process.on('message', ({ mode, options }) => {
  modes[mode](options).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send({ ready: true });
