// New connections to destinations through SOCKS5, each until it is answered or closed.
import net from 'node:net';
import { encodeSocksRequest } from '@gatehouse/net';

const GREETING = Buffer.from([5, 1, 0]);

/** The request of RFC 1928 for a flow of the benchmark. */
export function requestOf({ host, destinationIp, destinationPort }) {
  return encodeSocksRequest(1, { host: host ?? destinationIp, port: destinationPort });
}

/** Asks for every destination once. */
export async function askAll(port, requests, clients) {
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < requests.length) await askOne(port, requests[next++]);
    }),
  );
}

function askOne(port, request) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    let greeted = false;
    socket.setTimeout(60_000, () => reject(new Error('a destination got no answer')));
    // A program may reject by resetting the connection.
    socket.on('error', () => undefined).on('close', () => resolve());
    socket.write(GREETING);
    socket.on('data', () => {
      // mihomo agrees before it decides, so only the end of the connection is an answer.
      if (greeted) return;
      greeted = true;
      socket.write(request);
    });
  });
}

/** A SOCKS5 server that counts what it is asked for, and ends the connection. A refusal would be tried again. */
export async function countingServer() {
  const counted = { asked: 0 };
  const server = net.createServer((socket) => {
    let greeted = false;
    socket
      .on('error', () => undefined)
      .on('data', () => {
        if (greeted) {
          counted.asked++;
          return socket.end(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
        }
        greeted = true;
        socket.write(Buffer.from([5, 0]));
      });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: server.address().port, counted, close: () => server.close() };
}
