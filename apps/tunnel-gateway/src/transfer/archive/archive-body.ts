import { readAtMost } from '@gatehouse/net';
import { answerEarly, AppError, shapeProblem } from '@gatehouse/platform';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';

/** In bytes: an archive of some hundred thousand rows; other bodies may have a sixth of it at most. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Bodies for this path are parsed only after the administrator is known. */
export const ARCHIVE_PATH = '/api/v1/transfer/restore';

/** Parses a large body; it is a guard, so that it runs after the authentication. */
@Injectable()
export class ArchiveBody implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (!request.is('application/json') || request.headers['content-encoding'] !== undefined) {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send application/json without a content encoding');
    }
    const text = await readText(request, http.getResponse<Response>());
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch (cause) {
      throw new AppError('INVALID_ARGUMENT', 'The body is not JSON', { cause });
    }
    const problem = shapeProblem(body);
    if (problem !== undefined) throw new AppError('INVALID_ARGUMENT', problem);
    request.body = body;
    return true;
  }
}

async function readText(request: Request, response: Response): Promise<string> {
  const announced = Number(request.headers['content-length'] ?? 0);
  // To leave a body that is too long must not close the connection, which has the answer to carry.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const content = announced > MAX_BYTES ? null : await readAtMost(body, MAX_BYTES);
  if (content === null) {
    answerEarly(request, response);
    throw new AppError('PAYLOAD_TOO_LARGE', `An archive has at most ${MAX_BYTES} bytes`);
  }
  return content.toString();
}
