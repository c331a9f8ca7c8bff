// Clients of the proxy that keep their connections open and say something now and then.
// Arguments: port of the proxy, port of the echo, connections, messages a second.
import { once } from 'node:events';
import { connect } from 'node:net';

const [proxyPort, echoPort, count, perSecond] = process.argv.slice(2).map(Number);
const TARGETS = 500;
const sockets = [];

async function open(index) {
  const socket = connect(proxyPort, '127.0.0.1').setNoDelay(true);
  socket.on('error', () => process.exit(1));
  await once(socket, 'connect');
  socket.write(Buffer.from([5, 1, 0]));
  await once(socket, 'data');
  const target = index % TARGETS;
  socket.write(Buffer.from([5, 1, 0, 1, 127, 9, target >> 8, target & 255, echoPort >> 8, echoPort & 255]));
  const [reply] = await once(socket, 'data');
  if (reply[1] !== 0) {
    console.error(`the proxy answered ${reply[1]}`);
    process.exit(1);
  }
  socket.resume();
  sockets.push(socket);
}

for (let start = 0; start < count; start += 50) {
  await Promise.all(Array.from({ length: Math.min(50, count - start) }, (_, i) => open(start + i)));
}
process.send({ open: sockets.length });
let next = 0;
setInterval(() => {
  for (let i = 0; i < perSecond / 20; i++) sockets[next++ % count].write('a little something');
}, 50);
process.on('disconnect', () => process.exit());
