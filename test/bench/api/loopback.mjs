// What nodes and clients of a benchmark talk to, on every address of 127.0.0.0/8: a SOCKS5 proxy, an origin that answers
// 204, a server that never says a word, and an echo. In a process of its own, so that its CPU is not taken for ours.
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';

const ignore = () => undefined;

async function listen(server) {
  server.listen({ port: 0, host: '0.0.0.0', backlog: 4_096 });
  await once(server, 'listening');
  return server.address().port;
}

/** RFC 1928 and 1929: any name and password, CONNECT to an IPv4 address or a name that is one. */
function socks(client) {
  client.on('error', ignore).setNoDelay(true);
  client.once('data', (greeting) => {
    const named = greeting.subarray(2).includes(2);
    client.write(Buffer.from([5, named ? 2 : 0]));
    if (named) client.once('data', () => client.write(Buffer.from([1, 0])) && serve(client));
    else serve(client);
  });
}

function serve(client) {
  client.once('data', (request) => {
    const [host, end] = addressOf(request);
    const upstream = connect(request.readUInt16BE(end), host).setNoDelay(true);
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
    upstream.once('connect', () => {
      client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
      client.pipe(upstream).pipe(client);
    });
  });
}

function addressOf(request) {
  if (request[3] === 1) return [[...request.subarray(4, 8)].join('.'), 8];
  return [request.toString('latin1', 5, 5 + request[4]), 5 + request[4]];
}

const ports = {
  socks: await listen(createServer(socks)),
  origin: await listen(createHttpServer((_request, response) => response.writeHead(204).end())),
  silent: await listen(createServer((socket) => socket.on('error', ignore).resume())),
  echo: await listen(createServer((socket) => socket.on('error', ignore).pipe(socket))),
};
const closed = createServer();
ports.closed = await listen(closed);
closed.close();
process.send(ports);
process.on('disconnect', () => process.exit());
