import type { Request, Response } from 'express';
import type { ConsoleFile } from './console-files.js';

/** Sends a file compressed where the client can read that; 304 where it has the file already. */
export function sendFile(request: Request, response: Response, file: ConsoleFile, caching: string): void {
  response.setHeader('Cache-Control', caching);
  response.setHeader('ETag', file.etag);
  response.vary('Accept-Encoding');
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  const isZipped = request.acceptsEncodings('gzip') !== false;
  const body = isZipped ? file.zipped : file.body;
  if (isZipped) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Type', file.type);
  response.setHeader('Content-Length', body.length);
  response.end(body);
}
