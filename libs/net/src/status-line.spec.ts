import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { writeStatusLine } from './status-line.js';

/** The status line that is written for an answer of `status` and `reason`. */
async function written(status: number | undefined, reason: string | undefined): Promise<string> {
  const server = createServer((_, response) => {
    writeStatusLine(response, status, reason, ['X-Field', 'kept']);
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const answer = await text(client.setEncoding('latin1'));
  server.close();
  expect(answer).toContain('X-Field: kept');
  return answer.split('\r\n')[0] ?? '';
}

describe('writeStatusLine', () => {
  it.each([
    [200, 'Odd But Fine', 'HTTP/1.1 200 Odd But Fine'],
    [404, 'P\xe1gina', 'HTTP/1.1 404 P\xe1gina'],
    [999, 'a\tb', 'HTTP/1.1 999 a\tb'],
  ])('writes %i %j unchanged', async (status, reason, line) => {
    expect(await written(status, reason)).toBe(line);
  });

  it.each(['未找到', 'Не найдено', '\ufffd', 'a\x01b', 'a\x7fb', 'a\0b', 'a\r\nX-Own: 1', '', undefined])(
    'leaves out the phrase %j',
    async (reason) => {
      expect(await written(404, reason)).toBe('HTTP/1.1 404 Not Found');
    },
  );

  it.each([0, 99, 100, 101, 103, 1000, -1, Number.NaN, undefined])('writes 502 for the status %s', async (status) => {
    expect(await written(status, 'Fine')).toBe('HTTP/1.1 502 Bad Gateway');
  });
});
