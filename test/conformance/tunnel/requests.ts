/**
 * Requests that servers have read in more than one way. The cases are those that llhttp's own tests and the trophies of the
 * HTTP Garden name; the bytes are made here.
 */
export interface RequestCase {
  name: string;
  /** One character a byte. */
  text: string;
  /** Complete requests that the origin sees. */
  requests: number;
  /** The gateway waits for more; otherwise it has answered everything, or closed. */
  open?: true;
}

const HOST = 'Host: a.test';
/** Stands where a body is, or what could be taken for one: never a request of its own. */
export const HIDDEN = '/hidden';
const SECOND = `GET ${HIDDEN} HTTP/1.1\r\n${HOST}\r\n\r\n`;
const LAST = '0\r\n\r\n';

/** A whole head, its end included. */
const head = (line: string, ...fields: string[]): string => [line, HOST, ...fields, '', ''].join('\r\n');
const post = (fields: string[], body: string): string => head('POST /x HTTP/1.1', ...fields) + body;
const chunked = (body: string): string => post(['Transfer-Encoding: chunked'], body);
const coded = (coding: string): string => post([`Transfer-Encoding: ${coding}`], LAST + SECOND);
const sized = (length: string): string => post([`Content-Length: ${length}`], SECOND);
const get = (...fields: string[]): string => head('GET /x HTTP/1.1', ...fields);
const bytes = (first: number, last: number): string =>
  String.fromCharCode(...Array.from({ length: last - first + 1 }, (_, at) => first + at));

function refused(cases: Record<string, string>): RequestCase[] {
  return Object.entries(cases).map(([name, text]) => ({ name, text, requests: 0 }));
}

function served(cases: Record<string, string>, requests = 1): RequestCase[] {
  return Object.entries(cases).map(([name, text]) => ({ name, text, requests }));
}

function waiting(cases: Record<string, string>): RequestCase[] {
  return Object.entries(cases).map(([name, text]) => ({ name, text, requests: 0, open: true }));
}

const METHODS = [
  'REPORT',
  'M-SEARCH',
  'PATCH',
  'PURGE',
  'SEARCH',
  'LINK',
  'UNLINK',
  'PROPFIND',
  'QUERY',
  'OPTIONS',
  'HEAD',
];
const CODINGS = [
  'pigeons',
  'chunkedchunked',
  'chunked, deflate',
  'gzip, chunked',
  ',chunked',
  'chunked,',
  '"chunked"',
  'identity',
  '',
  '\u000bchunked',
  '\u00a0chunked\u00a0',
  '\u0085chunked',
  '\u00ffchunked\u00ff',
  'chunked\u0000',
  'x\rchunked',
  'xchunked',
  'chunked;a=b',
];
const LENGTHS = [
  '',
  '+5',
  '-48',
  '0x10',
  '1_0',
  '1Z',
  '5 5',
  '5,5',
  '5, 6',
  '\u00a05',
  '5\u0000',
  '9'.repeat(40),
  '1e1',
  '4.0',
  '٥',
];
const SIZES = [
  '0_2e',
  '0x0',
  '-0x0',
  '+0',
  '-1',
  '',
  'Z',
  ' 0',
  '0 ',
  '1 2',
  'INVALID!!!',
  '5\r\r;ABCD',
  '2;a=b\r\rXX',
  'fffffffffffffffff',
  '1these-bytes',
  '0\u000b',
];
const NAMES = [
  '\u00effoo',
  'Header\u0085',
  'Content-Length\u0085',
  'Content-Length ',
  'Content-Length\t',
  'Transfer-Encoding ',
  '\tContent-Length',
  ' Content-Length',
  '',
  'c\u0000',
  'a(b',
  'a"b',
  'a@b',
  'a/b',
  bytes(1, 8),
];
const VALUES = [
  'v\u0000\ralue',
  'va\rlue',
  'test\u0000dropped',
  'a\nb',
  '\u0001',
  'evil\u0000',
  'a\u007fb',
  'a\u000bb',
];
const VERSIONS = [
  'HTTP/1.32',
  'HTTP/4294967295.255',
  'HTTP/',
  'HTTP/1.',
  'HTTP/01.1',
  'HTTP/2.0',
  'HTTP/1.1 x',
  'http/1.1',
  'ICE/1.0',
];
const TARGETS = [
  '!',
  '',
  '*',
  'x',
  '/a b',
  '/\u00e9',
  '/\u0001',
  '/a#b',
  '/a\\b',
  '//\u007f',
  '/%',
  '/%00',
  'http://b.test/',
  'http://a.test@b.test/',
];

const named = (list: readonly string[], what: string, make: (text: string) => string): Record<string, string> =>
  Object.fromEntries(list.map((text) => [`${what} ${JSON.stringify(text)}`, make(text)]));

export const REQUESTS: readonly RequestCase[] = [
  ...served({
    'a plain one': get('Connection: close'),
    'fields without a space after the colon': get('Accept:*/*', 'Connection:close'),
    'an empty value': get('X-Empty:', 'Connection: close'),
    'bytes beyond ASCII in a value': get(`X-Bytes: ${bytes(0x80, 0xff)}`, 'Connection: close'),
    'quotes, bars and question marks': head("GET /a\"b|c?d?e='f' HTTP/1.1", 'Connection: close'),
    'an absolute target': head('GET http://a.test/x?y HTTP/1.1', 'Connection: close'),
    'an absolute target without a path': head('GET http://a.test?y HTTP/1.1', 'Connection: close'),
    'lines before it': `\r\n\r\n${get('Connection: close')}`,
    'a length with zeros': post(['Content-Length: 005', 'Connection: close'], 'hello'),
    'a length with spaces around it': post(['Content-Length:  5 ', 'Connection: close'], 'hello'),
    'a length in a GET': `${get(`Content-Length: ${SECOND.length}`, 'Connection: close')}${SECOND}`,
    'chunks, sizes in both cases': post(
      ['Transfer-Encoding: chunked', 'Connection: close'],
      `A\r\n0123456789\r\na\r\n0123456789\r\n000\r\n\r\n`,
    ),
    'chunks in a GET': `${get('Transfer-Encoding: chunked', 'Connection: close')}5\r\nhello\r\n${LAST}`,
    'Chunked in capitals': post(['Transfer-Encoding: CHUNKED', 'Connection: close'], `5\r\nhello\r\n${LAST}`),
    'extensions of chunks': post(
      ['Transfer-Encoding: chunked', 'Connection: close'],
      `5;a=b;c="d e";f\r\nhello\r\n0;x\r\n\r\n`,
    ),
    'fields after chunks': post(
      ['Transfer-Encoding: chunked', 'Connection: close'],
      `5\r\nhello\r\n0\r\nVary: *\r\nContent-Type: text/plain\r\n\r\n`,
    ),
    'a request as a body': post([`Content-Length: ${SECOND.length}`, 'Connection: close'], SECOND),
    'a request as a chunk': post(
      ['Transfer-Encoding: chunked', 'Connection: close'],
      `${SECOND.length.toString(16)}\r\n${SECOND}\r\n${LAST}`,
    ),
    'HTTP/1.0': head('GET /x HTTP/1.0'),
    // The parser takes it for HTTP/1.0, and so it goes on.
    'RTSP/1.0': head('GET /x RTSP/1.0'),
    'HTTP/1.0 with a body': `${head('POST /x HTTP/1.0', 'Content-Length: 5')}hello`,
    'an upgrade to h2c, passed over': get(
      'Connection: Upgrade, HTTP2-Settings, close',
      'Upgrade: h2c',
      'HTTP2-Settings: AAM',
    ),
    'an upgrade with a body, passed over': post(
      ['Connection: Upgrade, close', 'Upgrade: websocket', 'Content-Length: 5'],
      'hello',
    ),
    'Connection with many tokens': get('Connection: close, token, one-more', 'Token: x', 'Connection: token'),
    'a name with an underscore, left out': post(
      ['Transfer_Encoding: chunked', 'Content-Length: 5', 'Connection: close'],
      'hello',
    ),
    ...named(METHODS, 'method', (method) => head(`${method} /x HTTP/1.1`, 'Content-Length: 0', 'Connection: close')),
  }),
  ...served(
    {
      'two, one after the other': get() + get('Connection: close'),
      'two with a line between': `${post(['Content-Length: 5'], 'hello')}\r\n${get('Connection: close')}`,
      'two with chunks': chunked(`5\r\nhello\r\n${LAST}`) + get('Connection: close'),
      'one with Content-Length: 0 before another': post(['Content-Length: 0'], '') + get('Connection: close'),
    },
    2,
  ),
  {
    name: 'what comes after Connection: close',
    text: get('Connection: close') + SECOND,
    requests: 1,
  },
  { name: 'a good one before one that is none', text: `${get()}Invalid\r\n\r\n`, requests: 1 },
  ...waiting({
    'a body that is not there': post(['Content-Length: 5'], ''),
    'a head that does not end': 'GET /x HTTP/1.1\r\nHost: a.test\r\n',
    'a last chunk that is not there': chunked('5\r\nhello\r\n'),
    'the last line is not there': chunked('5\r\nhello\r\n0\r\n'),
  }),
  ...refused({
    'HTTP/0.9': 'GET /x\r\n\r\n',
    'HTTP/0.9 with fields and a body': `GET /x\r\n${HOST}\r\nContent-Length: ${SECOND.length}\r\n\r\n${SECOND}`,
    'HTTP/0.9 with line feeds': `GET /x\n${HOST}\nContent-Length: ${SECOND.length}\n\n${SECOND}`,
    'line feeds only': `GET /x HTTP/1.1\n${HOST}\n\n${SECOND}`,
    'a line feed for a space': `GET /x\nHTTP/1.1\r\n${HOST}\r\n\r\n`,
    'a carriage return for a line': `GET /x HTTP/1.1\r\n${HOST}\rX: y\r\n\r\n`,
    'a line that ends with two carriage returns': `GET /x HTTP/1.1\r\n${HOST}\r\rX: y\r\n\r\n`,
    'an end of fields without a line feed': `GET /x HTTP/1.1\r\n${HOST}\r\n\rZ${SECOND}`,
    'a space after the start line': `GET /x HTTP/1.1\r\n ${HOST}\r\n\r\n`,
    'a folded field': get('X: a', ' b'),
    'a folded field with a coding': post(['X: a', ' Transfer-Encoding: chunked'], LAST + SECOND),
    'a folded coding': post(['Transfer-Encoding: chunked', '  abc'], LAST + SECOND),
    'a name in two lines': post(['Transfer-', 'Encoding: chunked', 'Content-Length: 5'], LAST),
    'a field without a colon': get('Content-Length 10'),
    'a field of a colon only': get(':'),
    'no Host': 'GET /x HTTP/1.1\r\n\r\n',
    'two Hosts': get('Host: b.test'),
    'a Host with a NUL': 'GET /x HTTP/1.1\r\nHost: a.test\u0000.b.test\r\n\r\n',
    'a method that is none': `G=":<>(e),[T];?" /x HTTP/1.1\r\n${HOST}\r\n\r\n`,
    'a method of a NUL': `\u0000 /x HTTP/1.1\r\n${HOST}\r\n\r\n`,
    'no method': ` /x HTTP/1.1\r\n${HOST}\r\n\r\n`,
    CONNECT: head('CONNECT a.test:443 HTTP/1.1') + SECOND,
    'CONNECT with a body': `${head('CONNECT a.test:443 HTTP/1.1', 'Content-Length: 5')}hello`,
    TRACE: head('TRACE /x HTTP/1.1'),
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'length and chunks': post(['Content-Length: 5', 'Transfer-Encoding: chunked'], LAST + SECOND),
    'chunks and length': post(['Transfer-Encoding: chunked', 'Content-Length: 5'], LAST + SECOND),
    'length and another coding': post(['Content-Length: 5', 'Transfer-Encoding: pigeons'], LAST + SECOND),
    'length and an empty coding': post(['Content-Length: 5', 'Transfer-Encoding:'], LAST + SECOND),
    'two codings': post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], LAST + SECOND),
    'two codings, the other first': post(['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'], LAST + SECOND),
    'two lengths': post(['Content-Length: 0', `Content-Length: ${SECOND.length}`], SECOND),
    'two lengths that agree': post(['Content-Length: 5', 'Content-Length: 5'], 'hello'),
    'an empty length before another': post(['Content-Length:', `Content-Length: ${SECOND.length}`], SECOND),
    'chunks in HTTP/1.0': `${head('POST /x HTTP/1.0', 'Transfer-Encoding: chunked', 'Connection: keep-alive')}${LAST}${SECOND}`,
    'Connection that names Content-Length': post(
      [`Content-Length: ${SECOND.length}`, 'Connection: Content-Length'],
      SECOND,
    ),
    'Connection that names Host': get('Connection: Host'),
    ...named(CODINGS, 'coding', coded),
    ...named(LENGTHS, 'length', sized),
    ...named(NAMES, 'name', (name) => post([`${name}: ${SECOND.length}`], SECOND)),
    ...named(VALUES, 'value', (value) => get(`X: ${value}`)),
    ...named(VERSIONS, 'version', (version) => `GET /x ${version}\r\n${HOST}\r\n\r\n`),
    ...named(TARGETS, 'target', (target) => head(`GET ${target} HTTP/1.1`)),
    ...named(SIZES, 'chunk size', (size) => chunked(`${size}\r\n${SECOND}\r\n${LAST}`)),
    'a length after chunks': chunked(`5\r\nhello\r\n0\r\nContent-Length: 4\r\n\r\n${SECOND}`),
    'a chunk without its end': chunked(`5\r\nhelloX\r\n${LAST}${SECOND}`),
    'a chunk with a line feed only': chunked(`5\r\nhello\n${LAST}${SECOND}`),
    'a chunk line with a line feed only': chunked(`5\nhello\r\n${LAST}${SECOND}`),
    'a last chunk with other bytes for its end': chunked(`0\r\nX:${SECOND}`).replace('0\r\nX:', '0\r\nXX'),
    'an extension without a name': chunked(`5;\r\nhello\r\n${LAST}`).replace('5;', '5;\u0000'),
    'quotes of an extension that do not end': chunked(`5;a="b\r\nhello\r\n${LAST}${SECOND}`),
    'a line feed in an extension': chunked(`5;\n${SECOND.slice(0, 5)}\r\n${LAST}${SECOND}`),
  }),
];
