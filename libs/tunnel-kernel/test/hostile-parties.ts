import type { Socket } from 'node:net';

/** Numbers in [0, 1) that follow from a seed (mulberry32). */
export type Chance = () => number;

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<T>(chance: Chance, items: readonly T[]): T {
  const item = items[Math.floor(chance() * items.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}

export function garbage(chance: Chance, most = 200): Buffer {
  return Buffer.from(Array.from({ length: 1 + Math.floor(chance() * most) }, () => Math.floor(chance() * 256)));
}

const STATUSES = ['200', '000', '099', '100', '101', '103', '204', '304', '404', '799', '999', '1000', '-1', 'x'];
const PHRASES = ['OK', '', 'a\x01b', 'a\x7fb', 'a\0b', 'P\xe1gina', '\xe6\x9c\xaa\xe6\x89\xbe', 'x'.repeat(9000)];
const FIELDS = [
  'Content-Length: 2',
  'Content-Length: 99',
  'Content-Length: -1',
  'Content-Length: 2\r\nContent-Length: 3',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 2',
  'Connection: Upgrade\r\nUpgrade: websocket',
  'Connection: close',
  'Trailer: http2-settings, host',
  'X-\xe1: \xff',
  ': empty',
  'X-Long: ' + 'y'.repeat(70_000),
];
const BODIES = ['', 'ok', '2\r\nok\r\n0\r\n\r\n', 'zz\r\n', '2\r\nok\r\n0\r\nHost: x\r\n\r\n', 'x'.repeat(100_000)];

/** An answer to a request of HTTP/1 that no server should give. */
export function oddAnswer(chance: Chance): Buffer {
  if (chance() < 0.1) return garbage(chance);
  const fields = Array.from({ length: Math.floor(chance() * 4) }, () => `${pick(chance, FIELDS)}\r\n`).join('');
  const head = `HTTP/1.1 ${pick(chance, STATUSES)} ${pick(chance, PHRASES)}\r\n${fields}\r\n`;
  const answer = Buffer.from(
    `${chance() < 0.2 ? head.replace('\r\n\r\n', '\r\n') : head}${pick(chance, BODIES)}`,
    'latin1',
  );
  return chance() < 0.2 ? answer.subarray(0, Math.floor(chance() * answer.length)) : answer;
}

/** What a hostile target does with one connection. It ends within `lastMs`. */
export function beHostileTarget(socket: Socket, chance: Chance, lastMs: number): void {
  socket.on('error', () => undefined);
  const timer = setTimeout(() => socket.destroy(), lastMs);
  socket.once('close', () => clearTimeout(timer));
  const how = chance();
  if (how < 0.1) return void socket.resetAndDestroy();
  if (how < 0.2) return void socket.end('SSH-2.0-odd\r\n');
  if (how < 0.25) return void socket.write('220 mail.test\r\n');
  if (how < 0.3) return void socket.resume();
  socket.on('data', () => {
    if (socket.destroyed || socket.writableEnded) return;
    const then = chance();
    if (then < 0.1) socket.resetAndDestroy();
    else if (then < 0.6) socket.end(oddAnswer(chance));
    else socket.write(oddAnswer(chance));
  });
}

/** What a hostile visitor says to a port that speaks HTTP. `authority`: where the requests are to go. */
export function oddRequests(chance: Chance, authority: string, form: 'absolute' | 'origin'): Buffer {
  const target = form === 'absolute' ? `http://${authority}/` : '/';
  const host = `Host: ${form === 'absolute' ? authority : 'a.test'}\r\n`;
  const requests = [
    `GET ${target} HTTP/1.1\r\n${host}\r\n`,
    `HEAD ${target} HTTP/1.1\r\n${host}\r\n`,
    `POST ${target} HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nhello`,
    `POST ${target} HTTP/1.1\r\n${host}Content-Length: 500\r\n\r\nhalf`,
    `POST ${target} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    `POST ${target} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `POST ${target} HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    `GET ${target} HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nhello`,
    `GET ${target} HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: odd\r\n\r\nhello`,
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\nhello`,
    `GET ${target} HTTP/1.0\r\n\r\n`,
    `GET  HTTP/1.1\r\n${host}\r\n`,
    'NONSENSE\r\n\r\n',
    `GET ${target} HTTP/1.1\r\n${host}X: ${'y'.repeat(70_000)}\r\n\r\n`,
  ];
  const count = chance() < 0.2 ? 100 : 1 + Math.floor(chance() * 4);
  return Buffer.from(Array.from({ length: count }, () => pick(chance, requests)).join(''), 'latin1');
}

/** What a hostile visitor says to a port that speaks SOCKS5 (RFC 1928), whole or cut off. */
export function oddSocks(chance: Chance, port: number): Buffer {
  const name = garbage(chance, 255);
  const places = [
    [1, 127, 0, 0, 1, port >> 8, port & 255],
    [3, name.length, ...name, port >> 8, port & 255],
    [3, 0, 0, 0],
    [4, ...garbage(chance, 16)],
    [9, 9],
  ];
  const bytes = Buffer.from([5, 1, 0, 5, pick(chance, [1, 1, 1, 2, 3, 9]), 0, ...pick(chance, places)]);
  return chance() < 0.3 ? bytes.subarray(0, Math.floor(chance() * bytes.length)) : bytes;
}

/** Says `words` in pieces and leaves in some way; resolves when it has left. */
export function visitHostile(socket: Socket, words: Buffer, chance: Chance, lastMs: number): Promise<void> {
  socket.on('error', () => undefined);
  const cut = Math.floor(chance() * words.length);
  const how = chance();
  socket.write(words.subarray(0, cut));
  setImmediate(() => {
    if (socket.destroyed) return;
    socket.write(words.subarray(cut));
    if (how < 0.3) socket.end();
    // Some read nothing.
    if (how > 0.1) socket.resume();
  });
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => {
        // Node never closes a socket that is reset while it ends.
        if (socket.writableEnded || socket.connecting) socket.destroy();
        else socket.resetAndDestroy();
        resolve();
      },
      Math.ceil(chance() * lastMs),
    );
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
