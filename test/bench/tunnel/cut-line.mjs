// A line to the port on the command line; any message resets all that is on it.
import net from 'node:net';

const target = Number(process.argv[2]);
const sockets = new Set();
const keep = (socket, other) => {
  sockets.add(socket);
  socket.on('data', (chunk) => other.write(chunk));
  socket.on('end', () => other.end());
  socket.on('error', () => other.destroy());
  socket.on('close', () => {
    sockets.delete(socket);
    other.destroy();
  });
};
const server = net.createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
  const far = net.connect({ port: target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  keep(near, far);
  keep(far, near);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => process.send({ port: server.address().port }));
process.on('message', () => {
  const cut = sockets.size / 2;
  for (const socket of sockets) socket.resetAndDestroy();
  process.send({ cut });
});
process.on('disconnect', () => process.exit(0));
