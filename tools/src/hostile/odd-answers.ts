import type { Socket } from 'node:net';

export interface OddAnswer {
  name: string;
  /** What a server says after it read a request. */
  say(socket: Socket): void;
}

const text = (name: string, answer: string): OddAnswer => ({
  name,
  say: (socket) => void socket.end(Buffer.from(answer, 'latin1')),
});
const utf8 = (phrase: string): string => Buffer.from(phrase).toString('latin1');
const BODY = 'Content-Length: 2\r\n\r\nhi';

/** Answers to an HTTP/1.1 request that no server should give. Each ends, so each caller has to be answered or closed. */
export const ODD_ANSWERS: readonly OddAnswer[] = [
  text('status 000', `HTTP/1.1 000 x\r\n${BODY}`),
  text('status 099', `HTTP/1.1 099 x\r\n${BODY}`),
  text('status 1000', `HTTP/1.1 1000 x\r\n${BODY}`),
  text('status 999', `HTTP/1.1 999 x\r\n${BODY}`),
  text('a control byte in the reason phrase', `HTTP/1.1 200 a\x01b\r\n${BODY}`),
  text('DEL in the reason phrase', `HTTP/1.1 200 a\x7fb\r\n${BODY}`),
  text('NUL in the reason phrase', `HTTP/1.1 200 a\0b\r\n${BODY}`),
  text('a Chinese reason phrase', `HTTP/1.1 404 ${utf8('未找到')}\r\n${BODY}`),
  text('a Cyrillic reason phrase', `HTTP/1.1 404 ${utf8('Не найдено')}\r\n${BODY}`),
  text('a latin-1 reason phrase', `HTTP/1.1 404 P\xe1gina\r\n${BODY}`),
  text(
    '101 that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello',
  ),
  text('204 with a body', `HTTP/1.1 204 No Content\r\n${BODY}`),
  text('304 with a body', `HTTP/1.1 304 Not Modified\r\n${BODY}`),
  text('100 and then nothing', 'HTTP/1.1 100 Continue\r\n\r\n'),
  text('103 with a control byte', `HTTP/1.1 103 a\x01b\r\n\r\nHTTP/1.1 200 OK\r\n${BODY}`),
  text('two lengths', `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n${BODY}`),
  text('a length and chunks', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${BODY}`),
  text('a chunk of no number', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'),
  text('a control byte in a trailer', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: \x01\r\n\r\n'),
  text('a control byte in a field', `HTTP/1.1 200 OK\r\nX: a\x01b\r\n${BODY}`),
  text('half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhi'),
  text('half a head', 'HTTP/1.1 200 OK\r\nContent-Le'),
  text('no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'),
  text('nothing at all', ''),
  { name: 'a reset', say: (socket) => void socket.resetAndDestroy() },
  { name: 'a head without an end', say: (socket) => endlessHead(socket, 'X: y\r\n') },
  { name: 'a field without an end', say: (socket) => endlessHead(socket, 'y') },
];

const MOST = 4 * 1024 * 1024;

function endlessHead(socket: Socket, part: string): void {
  socket.write('HTTP/1.1 200 OK\r\nX: ');
  const block = Buffer.from(part.repeat(8_192 / part.length));
  const write = (): void => {
    while (!socket.destroyed && socket.bytesWritten < MOST) if (!socket.write(block)) return;
    socket.end();
  };
  socket.on('drain', write);
  write();
}

/** Which answer a request asks for, by its path `/odd/<n>`. */
export function oddAnswerFor(request: string): OddAnswer | undefined {
  const at = /^[A-Z]+ \S*\/odd\/(\d+)/.exec(request)?.[1];
  return at === undefined ? undefined : ODD_ANSWERS[Number(at)];
}
