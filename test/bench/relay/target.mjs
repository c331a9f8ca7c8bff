// What the relays lead to, as a process of its own. First byte of a connection says what it is to be:
// 'd' sends bytes for ever, 'u' swallows bytes, 'e' echoes.
import net from 'node:net';

const block = Buffer.alloc(256 * 1024, 0x67);

function sendForEver(socket) {
  const fill = () => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', fill);
  fill();
}

const server = net.createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('data', (first) => {
    const mode = String.fromCharCode(first[0]);
    if (mode === 'd') return sendForEver(socket);
    if (mode === 'u') return socket.on('data', () => {});
    if (first.length > 1) socket.write(first.subarray(1));
    socket.on('data', (chunk) => socket.write(chunk));
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));
