// Sends prepared requests over keep-alive connections, one at a time on each; forked, so that its CPU is its own.
// Expects { port, connections, requests: [text, ...] } and answers { seconds, statuses, waits, cpu }; with `expect`, a text
// that every body must have, it counts others under their status and beginning; with `collect` it answers `bodies` as well.
import { once } from 'node:events';
import net from 'node:net';

const END_OF_HEAD = '\r\n\r\n';

async function run({ port, connections, requests, expect, collect }) {
  const statuses = new Map();
  const waits = [];
  const bodies = [];
  let next = 0;
  const began = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: connections }, () => serve()));
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - began) / 1000;
  return { seconds, statuses: [...statuses], waits, bodies, cpu: (user + system) / 1e6 };

  async function serve() {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    while (next < requests.length) {
      const start = performance.now();
      const index = next++;
      socket.write(requests[index]);
      const { status: code, body } = await answer(socket);
      waits.push(performance.now() - start);
      if (collect) bodies[index] = body;
      const status = expect === undefined || body.includes(expect) ? code : `${code} ${body.slice(0, 200)}`;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    socket.destroy();
  }
}

/** Reads one answer with a Content-Length. */
function answer(socket) {
  return new Promise((resolve, reject) => {
    let text = '';
    const done = (settle, value) => {
      socket.off('data', onData).off('error', onError).off('close', onClose);
      settle(value);
    };
    const onError = (error) => done(reject, error);
    const onClose = () => done(reject, new Error('the connection was closed'));
    const onData = (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf(END_OF_HEAD);
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      const start = end + END_OF_HEAD.length;
      if (text.length < start + length) return;
      done(resolve, { status: text.slice(9, 12), body: text.slice(start, start + length) });
    };
    socket.on('data', onData).on('error', onError).on('close', onClose);
  });
}

process.send({ type: 'ready' });
async function work(job) {
  const result = await run(job);
  // Not before it is sent: a long one would be lost.
  process.send(result, () => process.disconnect());
}
process.on('message', (job) => void work(job));
