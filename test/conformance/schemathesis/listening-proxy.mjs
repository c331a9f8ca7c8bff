import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * Stands between a client and a service, and listens to what the service answers. `onMarker(text)` is called with the bytes
 * of each answer that holds `marker`, and the first line of the latest request before it.
 */
export async function startListeningProxy({ port, marker, onMarker }) {
  const sockets = new Set();
  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1' });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    let request = '';
    let before = '';
    near.on('data', (part) => {
      const [line = ''] = part.toString('latin1').split('\r\n', 1);
      if (/^[A-Z]+ \S+ HTTP\/1\.1$/.test(line)) request = line;
      before = '';
    });
    far.on('data', (part) => {
      const text = before + part.toString('latin1');
      if (text.includes(marker)) onMarker(request, text);
      // A marker may come in two parts.
      before = text.slice(-(marker.length - 1));
    });
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: server.address().port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
