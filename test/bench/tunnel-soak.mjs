// npm run bench -- tunnel-soak [minutes] [pause] [gateway]
//
// Visitors of the tunnel who leave at any moment, for as long as is said: does memory or the number of open files grow.
// A TCP tunnel and a host, in TLS; visitors take it all, close, reset, or send half a request and go. Server and agent are
// processes of their own; once every ten seconds their open files and their memory after a collection are noted: what they
// hold (heap and buffers), and what is resident, which malloc does not give back at once. With `gateway`, the whole gateway:
// the service with its database, edge and agent, UDP too, with everything on that is decided or noted for a visit; then its
// counters are compared with what visitors and targets have counted.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { residentBytes, startScript, stopAll } from './processes.mjs';
import { figure, loadLine, median, printTable } from './table.mjs';
import { soakGateway } from './tunnel/gateway-soak.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const minutes = Number(process.argv[2] ?? 10);
/** Pause of each visitor, in milliseconds. */
const PAUSE_MS = Number(process.argv[3] ?? 15);
const VISITORS = 12;
const SAMPLE_MS = 10_000;
/** A visitor's leaving may be noticed by a time limit only: longer than the longest of them. */
const QUIET_MS = 60_000;
const MAX_BYTES = 2 * 1024 * 1024;
const BLOCK = Buffer.alloc(64 * 1024, 7);
/** The first of them belong to caches that fill and code that is compiled. */
const WARM_UP = 0.2;

const random = (below) => Math.floor(Math.random() * below);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Answers `/bytes/N`; takes whatever is sent. */
async function startOrigin() {
  const origin = createServer((request, response) => {
    request.resume();
    request.on('error', () => {});
    response.on('error', () => {});
    let left = Number(request.url.split('/')[2] ?? 0);
    const send = () => {
      while (left > 0 && !response.destroyed) {
        const part = BLOCK.subarray(0, Math.min(left, BLOCK.length));
        left -= part.length;
        if (!response.write(part)) return response.once('drain', send);
      }
      response.end();
    };
    request.on('end', send);
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  return origin.address().port;
}

const ends = { complete: 0, closed: 0, reset: 0, cut: 0, failed: 0 };

/** One visitor, who has made up their mind when to go. */
async function visit(port) {
  const socket = net.connect({ port, host: '127.0.0.1' });
  const size = random(MAX_BYTES);
  const leaveAfter = random(size * 2);
  const how = ['closed', 'reset', 'cut'][random(3)];
  let received = 0;
  let left = false;
  socket.on('error', () => {});
  socket.on('data', (part) => {
    received += part.length;
    if (received < leaveAfter || left) return;
    left = true;
    if (how === 'reset') socket.resetAndDestroy();
    else socket.destroy();
  });
  const head = `POST /bytes/${size} HTTP/1.1\r\nHost: soak.example\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n`;
  if (how === 'cut') {
    // Half a request, and gone.
    socket.write(head);
    socket.write(BLOCK.subarray(0, random(99_999)), () => {
      left = true;
      socket.destroy();
    });
  } else {
    socket.write(head);
    socket.write(BLOCK);
    socket.write(BLOCK.subarray(0, 100_000 - BLOCK.length));
  }
  const timer = setTimeout(() => socket.destroy(), 20_000);
  await once(socket, 'close');
  clearTimeout(timer);
  if (left) ends[how] += 1;
  else if (received >= size) ends.complete += 1;
  else ends.failed += 1;
}

async function sample(server, agent) {
  for (const { child } of [server, agent]) child.send({});
  const states = await Promise.all([server, agent].map(({ child }) => once(child, 'message').then(([said]) => said)));
  const of = ({ child: { pid } }, { live }) => {
    return { live, rss: residentBytes(pid), files: readdirSync(`/proc/${pid}/fd`).length };
  };
  return { at: performance.now(), flows: states[0].flows, server: of(server, states[0]), agent: of(agent, states[1]) };
}

const mebibytes = (bytes) => figure(bytes / 1024 / 1024, 1);

if (process.argv[4] === 'gateway') process.exit((await soakGateway(minutes, PAUSE_MS)) ? 0 : 1);

try {
  const origin = await startOrigin();
  const options = { execArgv: ['--expose-gc'] };
  const server = await startScript(here('tunnel/soak-server.mjs'), [String(origin)], options);
  const { door, http, port, key } = server.first;
  const agent = await startScript(here('tunnel/soak-agent.mjs'), [String(door), key], options);
  const until = performance.now() + minutes * 60_000;
  const samples = [];
  const visitors = Array.from({ length: VISITORS }, async (_, index) => {
    while (performance.now() < until) {
      await visit(index % 2 === 0 ? port : http);
      await pause(PAUSE_MS);
    }
  });
  while (performance.now() < until) {
    await pause(Math.min(SAMPLE_MS, until - performance.now()));
    samples.push(await sample(server, agent));
    const { at, flows, server: s, agent: a } = samples.at(-1);
    if (samples.length % 6 === 0) {
      const left = Math.max(0, (until - at) / 60_000).toFixed(0);
      console.log(
        `${left} min left: server ${mebibytes(s.rss)} MiB, agent ${mebibytes(a.rss)} MiB, live ${mebibytes(s.live)} and ${mebibytes(a.live)}, ${flows} flows`,
      );
    }
  }
  await Promise.all(visitors);
  const gone = performance.now();
  let last = await sample(server, agent);
  while (last.flows > 0 && performance.now() - gone < QUIET_MS) {
    await pause(500);
    last = await sample(server, agent);
  }
  const settledMs = performance.now() - gone;
  const steady = samples.slice(Math.floor(samples.length * WARM_UP));
  const third = Math.max(1, Math.floor(steady.length / 3));
  const rows = ['server', 'agent'].map((name) => {
    const of = (part, what) => median(part.map((one) => one[name][what]));
    const [early, late] = [steady.slice(0, third), steady.slice(-third)];
    return {
      name,
      early: of(early, 'live'),
      late: of(late, 'live'),
      resident: `${mebibytes(of(early, 'rss'))} / ${mebibytes(of(late, 'rss'))}`,
      most: Math.max(...samples.map((s) => s[name].files)),
    };
  });
  console.log(
    `${minutes} min, visitors: ${Object.entries(ends)
      .map(([how, count]) => `${count} ${how}`)
      .join(', ')}`,
  );
  printTable(
    'memory',
    [
      ['process', (row) => row.name],
      ['live MiB, first third', (row) => mebibytes(row.early)],
      ['live MiB, last third', (row) => mebibytes(row.late)],
      ['growth', (row) => `${figure((row.late / row.early - 1) * 100, 1)} %`],
      ['resident MiB, first / last', (row) => row.resident],
      ['open files at most', (row) => row.most],
      ['when all have gone', (row) => last[row.name].files],
    ],
    rows,
  );
  console.log(`${last.flows} flows left ${figure(settledMs / 1000, 1)} s after the last visitor`);
  console.log(loadLine());
  if (last.flows !== 0 || ends.failed > 0 || rows.some(({ early, late }) => late > early * 1.1)) process.exitCode = 1;
} finally {
  await stopAll();
}
