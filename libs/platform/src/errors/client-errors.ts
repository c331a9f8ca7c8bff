import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@gatehouse/contracts';
import { AppError } from './app-error.js';
import { formatError, type ErrorFormat } from './error-format.js';

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/**
 * Answers input that is not a request, or is too slow or too large, in the service's format as well: Node sends no
 * body.
 */
export function answerClientErrors(server: Server, format: ErrorFormat): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const { _httpMessage: running } = socket as { _httpMessage?: ServerResponse };
    // The client has left, or already has a part of another answer.
    if (!socket.writable || error.code === 'ECONNRESET' || running?.headersSent === true) {
      socket.destroy(error);
      return;
    }
    socket.end(answerTo(error, format), () => socket.destroy());
  });
}

function answerTo({ code = '' }: NodeJS.ErrnoException, format: ErrorFormat): string {
  const known = CODES[code];
  const error =
    known === undefined ? new AppError('INVALID_ARGUMENT', 'This is not an HTTP request') : new AppError(known);
  const { contentType, body } = formatError(error, format, undefined);
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
