import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openAll } from './open-flows.js';
import { dial } from './visits.js';

describe('connections that stay open', () => {
  it('are opened beside one that is refused, which is named', async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const { port } = echo.address() as AddressInfo;
    const { flows, refused } = await openAll([
      { name: 'edge 1', dial: () => dial({ host: '127.0.0.1', port }) },
      { name: 'edge 2', dial: () => Promise.reject(new Error('the host answered 503')) },
    ]);
    expect(refused).toEqual(['edge 2 (not opened: Error: the host answered 503)']);
    expect(flows.map(({ name }) => name)).toEqual(['edge 1']);
    expect(await flows[0]?.answers()).toBe(true);
    await flows[0]?.end();
    echo.close();
  });
});
