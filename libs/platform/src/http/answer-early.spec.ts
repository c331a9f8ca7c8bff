import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { JsonLogger } from '../logging/json-logger.js';
import { loadSettings } from '../settings/load-settings.js';
import { ServiceSettings } from '../settings/service-settings.js';
import { createServiceApp } from '../service/create-service-app.js';
import { NotesModule } from '../service/notes.fixture.js';

const LIMIT = 100_000;
let app: NestExpressApplication;
let port: number;

beforeAll(async () => {
  const settings = loadSettings(ServiceSettings, { DATABASE_URL: 'postgres://localhost/none', TRUSTED_PROXIES: '' });
  app = await createServiceApp({
    name: 'notes',
    module: NotesModule,
    settings,
    logger: new JsonLogger({ service: 'notes', level: 'debug', write: () => undefined }),
    http: { errorFormat: 'proxy', bodyLimit: LIMIT },
  });
  await app.listen(0, '127.0.0.1');
  ({ port } = app.getHttpServer().address() as AddressInfo);
});

afterAll(() => app.close());

class Sender {
  text = '';
  readonly socket: Socket;

  constructor(framing: string) {
    // Like most clients, it goes on sending when the server has said its last word.
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('utf8');
    this.socket.on('data', (text: string) => (this.text += text));
    this.socket.write(`POST /notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`);
  }

  /** The server has answered and says no more. */
  async answered(): Promise<void> {
    if (!this.socket.readableEnded) await once(this.socket, 'end');
    expect(this.text).toMatch(/^HTTP\/1\.1 413 /);
    expect(this.text).toMatch(/\r\nConnection: close\r\n/i);
    expect(JSON.parse(this.text.slice(this.text.indexOf('\r\n\r\n')))).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  }
}

/** Rejects if the server has reset the connection. */
function send(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => socket.write(text, (error) => (error ? reject(error) : resolve())));
}

const PART = ' '.repeat(50_000);

it('answers a body of a declared length before any of it has come, and goes on reading', async () => {
  const sender = new Sender(`Content-Length: ${100 * PART.length}`);
  await sender.answered();
  for (let sent = 0; sent < 100; sent++) {
    await send(sender.socket, PART);
  }
  sender.socket.end();
  await once(sender.socket, 'close');
  expect(sender.socket.errored).toBeNull();
});

it('answers a body without a length as soon as it is too large', async () => {
  const sender = new Sender('Transfer-Encoding: chunked');
  const chunk = `${PART.length.toString(16)}\r\n${PART}\r\n`;
  for (let sent = 0; sent < 3; sent++) {
    expect(sender.text).toBe('');
    await send(sender.socket, chunk);
  }
  await sender.answered();
  for (let sent = 0; sent < 50; sent++) await send(sender.socket, chunk);
  sender.socket.end('0\r\n\r\n');
  await once(sender.socket, 'close');
  expect(sender.socket.errored).toBeNull();
});

it('runs no request that follows the refused body', async () => {
  const sender = new Sender(`Content-Length: ${LIMIT + 1}`);
  const next = 'POST /notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n';
  sender.socket.end(`${' '.repeat(LIMIT + 1)}${next}{"name":"a"}`);
  await once(sender.socket, 'close');
  await sender.answered();
  expect(sender.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

it('closes the connection of a client that stops sending', async () => {
  const sender = new Sender(`Content-Length: ${LIMIT + 1}`);
  await sender.answered();
  const connections = (): Promise<number> => promisify(app.getHttpServer().getConnections.bind(app.getHttpServer()))();
  // The server's limit is five seconds.
  await expect.poll(connections, { timeout: 30_000, interval: 100 }).toBe(0);
  sender.socket.destroy();
});

it.each([
  ['of a declared length', []],
  ['without one', ['-H', 'Transfer-Encoding: chunked']],
])('curl sees the answer to a body %s', async (_, more) => {
  const options = [
    '-sS',
    '-m',
    '60',
    '--limit-rate',
    '5M',
    '-w',
    '%{http_code}',
    '-H',
    'Content-Type: application/json',
    '-H',
    'Expect:',
  ];
  const command = execFile('curl', [...options, ...more, '--data-binary', '@-', `http://127.0.0.1:${port}/notes`], {
    maxBuffer: 1_000_000,
  });
  let output = '';
  command.stdout?.on('data', (text: string) => (output += text));
  command.stdin?.on('error', () => undefined);
  command.stdin?.end(' '.repeat(5_000_000));
  await once(command, 'close');
  expect(output).toMatch(/PAYLOAD_TOO_LARGE.*413$/s);
});
