// Sends prepared requests over keep-alive connections, one at a time on each; forked, so that its CPU is its own.
// Expects { port, connections, requests: [text, ...] } and answers { seconds, statuses, waits, cpu }.
import { once } from 'node:events';
import net from 'node:net';

const END_OF_HEAD = '\r\n\r\n';

async function run({ port, connections, requests }) {
  const statuses = new Map();
  const waits = [];
  let next = 0;
  const began = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: connections }, () => serve()));
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - began) / 1000;
  return { seconds, statuses: [...statuses], waits, cpu: (user + system) / 1e6 };

  async function serve() {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    while (next < requests.length) {
      const start = performance.now();
      socket.write(requests[next++]);
      const status = await answer(socket);
      waits.push(performance.now() - start);
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
      if (text.length >= end + END_OF_HEAD.length + length) done(resolve, text.slice(9, 12));
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
