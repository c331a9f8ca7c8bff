import { once } from 'node:events';
import type { Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { howItEnds, readAll, TunnelRig } from '../../../test/tunnel-rig.js';

let rig: TunnelRig;
let proxy: number;
beforeEach(async () => {
  rig = new TunnelRig();
  await rig.listen();
  rig.agent(rig.client().key);
  await rig.online(1);
  proxy = await rig.tunnel(1, [], { mode: 'http_proxy' });
});
afterEach(() => rig.close());

const get = (port: number, more = ''): string =>
  `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${more}\r\n`;

/** A target that answers every connection with `answer`. */
const says = (answer: string): Promise<number> =>
  rig.target((socket) => socket.once('data', () => socket.end(answer, 'latin1')));

/** What a visitor gets that asks for `port` once. */
async function ask(port: number): Promise<string> {
  const visitor = await rig.visit(proxy);
  visitor.write(get(port, 'Connection: close\r\n'));
  return (await readAll(visitor)).toString('latin1');
}

describe('an origin behind the HTTP proxy', () => {
  it.each(['a\x01b', 'a\x7fb', '\xe6\x9c\xaa'])('can use %j as its reason phrase', async (reason) => {
    const answer = await ask(await says(`HTTP/1.1 404 ${reason}\r\nContent-Length: 2\r\n\r\nok`));
    expect(answer).toMatch(/^HTTP\/1\.1 (404|502) [ -~\x80-\xff]*\r\n/);
    await waitFor(() => rig.server.flows === 0);
  });

  it.each(['000 Odd', '099 Odd', '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd'])(
    'that answers %s causes a 502',
    async (status) => {
      expect(await ask(await says(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`))).toMatch(/^HTTP\/1\.1 502 /);
      await waitFor(() => rig.server.flows === 0);
    },
  );

  it('that closes without an answer does not keep its visitor waiting', async () => {
    expect(await ask(await says(''))).toMatch(/^HTTP\/1\.1 502 /);
  });

  it('can give a length in a 204 answer, which has no body', async () => {
    const answer = await ask(await says('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nX-Own: 1\r\n\r\n'));
    expect(answer).toMatch(/^HTTP\/1\.1 204 No Content\r\nX-Own: 1\r\n/);
    expect(answer.toLowerCase()).not.toContain('content-length');
  });
});

describe('requests that are sent before an answer', () => {
  let reached: Socket[];
  let target: number;
  beforeEach(async () => {
    reached = [];
    target = await rig.target((socket) => {
      socket.once('data', () => {
        reached.push(socket);
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n');
      });
    });
  });

  it('reach their origins in order', async () => {
    const visitor = await rig.visit(proxy);
    visitor.write(get(target) + get(target) + get(target, 'Connection: close\r\n'));
    const answers = readAll(visitor);
    for (const count of [1, 2, 3]) {
      await waitFor(() => reached.length === count && rig.server.flows === 1);
      reached[count - 1]?.write('0\r\n\r\n');
    }
    expect((await answers).toString().match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    await waitFor(() => rig.server.flows === 0);
  });

  it('leave nothing behind when their visitor leaves', async () => {
    const visitor = await rig.visit(proxy);
    visitor.write(get(target).repeat(50));
    await once(visitor, 'data');
    visitor.resetAndDestroy();
    await waitFor(() => rig.server.flows === 0 && (reached[0]?.destroyed ?? false));
    expect(reached).toHaveLength(1);
  });

  it('close the connection if there are too many', async () => {
    const visitor = await rig.visit(proxy);
    visitor.write(get(target).repeat(500));
    await howItEnds(visitor);
    await waitFor(() => rig.server.flows === 0);
    expect(reached.length).toBeLessThan(2);
  });

  it('do not mix with a CONNECT tunnel after them', async () => {
    const echo = await rig.echo();
    const visitor = await rig.visit(proxy);
    visitor.write(`${get(target)}CONNECT 127.0.0.1:${echo} HTTP/1.1\r\nHost: a\r\n\r\nhello`);
    await waitFor(() => reached.length === 1);
    const all = readAll(visitor);
    reached[0]?.write('0\r\n\r\n');
    let said = '';
    visitor.on('data', (part) => (said += String(part)));
    await waitFor(() => said.endsWith('hello'));
    visitor.end();
    expect(String(await all)).toMatch(
      /^HTTP\/1\.1 200 OK[^]*0\r\n\r\nHTTP\/1\.1 200 Connection established\r\n\r\nhello$/,
    );
  });
});
