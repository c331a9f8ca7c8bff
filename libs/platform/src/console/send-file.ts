import type { Request, Response } from 'express';
import type { ConsoleFile } from './console-files.js';

/** Sends a file, compressed if the client supports it; 304 if the client already has the file. */
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
