// The soak with the whole gateway: memory of each process over the time, and at the end every counter against what visitors and
// targets have counted themselves.
import dgram from 'node:dgram';
import { once } from 'node:events';
import { createReadStream, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { figure, loadLine, median, printTable } from '../table.mjs';
import { eventually, HOSTS, ownMebibytes, startWholeGateway } from './whole-gateway.mjs';

const SAMPLE_MS = 10_000;
const PATIENCE_MS = 20_000;
const MAX_BYTES = 64 * 1024;
const MAX_DATAGRAM = 1_200;
const BLOCK = Buffer.alloc(MAX_BYTES, 7);
/** The first samples belong to caches that fill and to code that is compiled. */
const WARM_UP = 0.2;
const MAX_GROWTH = 1.1;

const random = (below) => Math.floor(Math.random() * below);
const nothing = () => {};

/** What the visits of a tunnel or a host have moved, counted on this side. */
const newCount = () => ({ visits: 0, failed: 0, inlet: 0, export: 0 });

/** The first eight bytes of a request are its size and that of the answer. */
async function startTcpTarget() {
  const server = net.createServer((socket) => {
    socket.on('error', nothing);
    let received = 0;
    socket.on('data', (part) => {
      if (received === 0) socket.wanted = { request: part.readUInt32BE(0), answer: part.readUInt32BE(4) };
      received += part.length;
      if (received === socket.wanted.request) socket.end(BLOCK.subarray(0, socket.wanted.answer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

async function startUdpTarget() {
  const socket = dgram.createSocket('udp4');
  socket.on('message', (message, { port, address }) => socket.send(message, port, address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket.address().port;
}

async function startHttpTarget(counts) {
  const server = createServer((request, response) => {
    const counted = request.headers.host === HOSTS.counted && request.url !== '/health';
    request.on('error', nothing).resume();
    response.on('error', nothing);
    request.on('end', () => {
      if (counted) counts.targets.http += 1;
      response.end(BLOCK.subarray(0, Number(request.url.split('/')[2] ?? 0)));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

/** Sends `request`, reads to the end and counts what the socket has moved. */
async function exchange(port, request, count, complete) {
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  const parts = [];
  socket.on('error', nothing).on('data', (part) => parts.push(part));
  socket.write(request);
  await once(socket, 'close');
  count.visits += 1;
  count.inlet += socket.bytesWritten;
  count.export += socket.bytesRead;
  if (!complete(Buffer.concat(parts))) count.failed += 1;
}

function visitTcp(port, count) {
  const request = Buffer.from(BLOCK.subarray(0, 8 + random(MAX_BYTES - 8)));
  const answer = 1 + random(MAX_BYTES);
  request.writeUInt32BE(request.length, 0);
  request.writeUInt32BE(answer, 4);
  return exchange(port, request, count, (received) => received.length === answer);
}

function requestOf(host, size, body) {
  const head = `POST /bytes/${size} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** Fields of the connection with the visitor, not of the answer: they are not counted. */
const OF_CONNECTION = /^(?:Connection|Keep-Alive):.*\r\n/gim;

function visitHost(port, count) {
  const size = random(MAX_BYTES);
  const request = requestOf(HOSTS.counted, size, BLOCK.subarray(0, random(MAX_BYTES)));
  return exchange(port, request, count, (received) => {
    const start = received.indexOf('\r\n\r\n') + 4;
    const head = received.subarray(0, start).toString('latin1');
    count.export -= head.match(OF_CONNECTION)?.join('').length ?? 0;
    return received.subarray(0, 12).toString() === 'HTTP/1.1 200' && received.length - start === size;
  });
}

/** Ten datagrams, each after the answer to the one before. */
async function visitUdp(port, count) {
  const socket = dgram.createSocket('udp4');
  for (let i = 0; i < 10; i++) {
    const message = BLOCK.subarray(0, 1 + random(MAX_DATAGRAM));
    const timer = new AbortController();
    socket.send(message, port, '127.0.0.1');
    count.inlet += message.length;
    const answered = once(socket, 'message', { signal: timer.signal }).catch(() => [Buffer.alloc(0)]);
    const late = setTimeout(() => timer.abort(), PATIENCE_MS);
    const [answer] = await answered;
    clearTimeout(late);
    count.export += answer.length;
    if (answer.length !== message.length) count.failed += 1;
  }
  count.visits += 1;
  socket.close();
}

/** Closes or resets at any moment, or goes after half a request. */
async function leave(port, count) {
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.on('error', nothing);
  const request = requestOf(HOSTS.left, MAX_BYTES, BLOCK);
  const sent = random(3) === 0 ? random(request.length) : request.length;
  let toRead = random(MAX_BYTES);
  const go = () => (random(2) === 0 ? socket.resetAndDestroy() : socket.destroy());
  socket.on('data', (part) => {
    toRead -= part.length;
    if (toRead <= 0) go();
  });
  socket.write(request.subarray(0, sent), () => {
    if (sent < request.length) go();
  });
  await once(socket, 'close');
  count.visits += 1;
}

function sampleOf(processes) {
  return processes.map(({ name, pids }) => {
    const all = pids();
    const files = all.reduce((sum, pid) => sum + filesOf(pid), 0);
    return { name, mebibytes: all.reduce((sum, pid) => sum + ownMebibytes(pid), 0), files };
  });
}

function filesOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0; // It has ended.
  }
}

async function linesOf(file, host) {
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) if (line.startsWith(host)) count += 1;
  return count;
}

/** Waits until the counters of the API stand still, and returns them with what was counted here. */
async function compare(gateway, counts) {
  const { call, client, tunnels, hosts } = gateway;
  const read = async () => ({
    tcp: await call('GET', `/tunnels/${tunnels.tcp.id}`),
    udp: await call('GET', `/tunnels/${tunnels.udp.id}`),
    left: await call('GET', `/tunnels/${tunnels.left.id}`),
    host: await call('GET', `/hosts/${hosts.counted.id}`),
    leftHost: await call('GET', `/hosts/${hosts.left.id}`),
    client: await call('GET', `/clients/${client.id}`),
  });
  let last = '';
  const seen = await eventually('the last counters', async () => {
    const now = await read();
    const text = JSON.stringify(Object.values(now).map((one) => [one.inlet_flow, one.export_flow, one.period_traffic]));
    const same = text === last;
    last = text;
    await pause(3_000);
    return same ? now : null;
  });
  const parts = [seen.tcp, seen.udp, seen.left, seen.host, seen.leftHost];
  const sum = (field) => parts.reduce((total, one) => total + one[field], 0);
  const row = (what, gatewayFigure, own) => ({ what, gateway: gatewayFigure, own });
  return [
    row('TCP tunnel, bytes in', seen.tcp.inlet_flow, counts.tcp.inlet),
    row('TCP tunnel, bytes out', seen.tcp.export_flow, counts.tcp.export),
    row('TCP tunnel, bytes of its quota', seen.tcp.period_traffic, counts.tcp.inlet + counts.tcp.export),
    row('UDP tunnel, bytes in', seen.udp.inlet_flow, counts.udp.inlet),
    row('UDP tunnel, bytes out', seen.udp.export_flow, counts.udp.export),
    row('UDP tunnel, bytes of its quota', seen.udp.period_traffic, counts.udp.inlet + counts.udp.export),
    row('host, bytes in', seen.host.inlet_flow, counts.http.inlet),
    row('host, bytes out', seen.host.export_flow, counts.http.export),
    row('client, bytes in, against its tunnels and hosts', seen.client.inlet_flow, sum('inlet_flow')),
    row('client, bytes out, against its tunnels and hosts', seen.client.export_flow, sum('export_flow')),
    row(
      'client, bytes of its quota, against the same',
      seen.client.period_traffic,
      sum('inlet_flow') + sum('export_flow'),
    ),
    row(
      'lines of the access log, against visits of the host',
      await linesOf(gateway.accessLog, HOSTS.counted),
      counts.http.visits,
    ),
    row('requests at the target, against the same', counts.targets.http, counts.http.visits),
  ];
}

/** Visits for `minutes`, each visitor with pauses of `pauseMs`. Prints the tables; false if something grew or is wrong. */
export async function soakGateway(minutes, pauseMs) {
  const counts = { tcp: newCount(), udp: newCount(), http: newCount(), left: newCount(), targets: { http: 0 } };
  const targets = { tcp: await startTcpTarget(), udp: await startUdpTarget(), http: await startHttpTarget(counts) };
  const gateway = await startWholeGateway(targets);
  const { tunnels, httpPort } = gateway;
  try {
    const processes = gateway.processes();
    const until = performance.now() + minutes * 60_000;
    const visitor = async (visit) => {
      while (performance.now() < until) {
        await visit();
        await pause(pauseMs * (0.5 + Math.random()));
      }
    };
    const visitors = [
      () => visitTcp(tunnels.tcp.listen_port, counts.tcp),
      () => visitUdp(tunnels.udp.listen_port, counts.udp),
      () => visitHost(httpPort, counts.http),
      () => visitHost(httpPort, counts.http),
      () => leave(tunnels.left.listen_port, counts.left),
      () => leave(httpPort, counts.left),
    ].map(visitor);
    const samples = [];
    while (performance.now() < until) {
      await pause(Math.min(SAMPLE_MS, until - performance.now()));
      samples.push(sampleOf(processes));
      if (samples.length % 30 === 0)
        console.log(
          samples
            .at(-1)
            .map(({ name, mebibytes }) => `${name} ${figure(mebibytes, 1)} MiB`)
            .join(', '),
        );
    }
    await Promise.all(visitors);
    return report({ samples, after: sampleOf(processes), counts, minutes, compared: await compare(gateway, counts) });
  } finally {
    await gateway.end();
  }
}

function report({ samples, after, counts, minutes, compared }) {
  const steady = samples.slice(Math.floor(samples.length * WARM_UP));
  const third = Math.max(1, Math.floor(steady.length / 3));
  const rows = after.map(({ name, files }, index) => {
    const of = (part) => median(part.map((sample) => sample[index].mebibytes));
    const most = Math.max(...samples.map((sample) => sample[index].files));
    return { name, early: of(steady.slice(0, third)), late: of(steady.slice(-third)), most, files };
  });
  const of = (count) => `${count.visits} (${count.failed} failed)`;
  console.log(
    `${minutes} min, visits: TCP ${of(counts.tcp)}, UDP ${of(counts.udp)}, host ${of(counts.http)}, left ${counts.left.visits}`,
  );
  printTable(
    'gateway',
    [
      ['process', (row) => row.name],
      ['own MiB, first third', (row) => figure(row.early, 1)],
      ['own MiB, last third', (row) => figure(row.late, 1)],
      ['growth', (row) => `${figure((row.late / row.early - 1) * 100, 1)} %`],
      ['open files at most', (row) => row.most],
      ['at the end', (row) => row.files],
    ],
    rows,
  );
  printTable(
    'counters',
    [
      ['what', (row) => row.what],
      ['gateway', (row) => row.gateway],
      ['counted here', (row) => row.own],
      ['difference', (row) => row.gateway - row.own],
    ],
    compared,
  );
  console.log(loadLine());
  const failed = counts.tcp.failed + counts.udp.failed + counts.http.failed;
  return (
    failed === 0 &&
    compared.every((row) => row.gateway === row.own) &&
    rows.every(({ early, late }) => late <= early * MAX_GROWTH)
  );
}
