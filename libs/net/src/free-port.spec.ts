import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { bindOnce, freePort, listenOnce } from './free-port.js';

it('returns a port that can be listened on and is outside the range of outgoing connections', async () => {
  const port = await freePort();
  expect(port).toBeGreaterThanOrEqual(1024);
  expect(port).toBeLessThan(32_768);
  expect(await listenOnce(port, '127.0.0.1')).toBe(port);
});

it('says why a port cannot be opened', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(listenOnce(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  server.close();
  // TEST-NET-1 (RFC 5737) belongs to no machine.
  await expect(freePort('192.0.2.1')).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
});

it('says the same of UDP ports', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await expect(bindOnce(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  socket.close();
  await once(socket, 'close');
  expect(await bindOnce(port, '127.0.0.1')).toBe(port);
});
