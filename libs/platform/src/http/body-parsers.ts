import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { AppError } from '../errors/app-error.js';
import { answerEarly } from './answer-early.js';
import { shapeProblem } from './body-shape.js';

export const DEFAULT_BODY_LIMIT = 10 * 1024 * 1024;

export interface BodyParserOptions {
  /** Largest accepted body in bytes, after decompression. */
  readonly limit: number;
  /** Also accept application/x-www-form-urlencoded. */
  readonly forms: boolean;
  /** Path prefixes whose handlers read the body stream themselves (uploads). */
  readonly streamedPaths: readonly string[];
}

/** JSON (and form) bodies; a body of another type is refused with 415 before it is read. */
export function bodyParsers(options: BodyParserOptions): RequestHandler {
  const json = express.json({ limit: options.limit, type: ['json', '+json'] });
  const form = express.urlencoded({ limit: options.limit, extended: false, parameterLimit: 1_000 });
  return (request, response, next) => {
    if (!hasBody(request) || options.streamedPaths.some((prefix) => request.path.startsWith(prefix))) return next();
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > options.limit) return refuseTooLarge(request, response, next, options.limit);
    const parser = chooseParser(request, json, options.forms ? form : undefined);
    if (parser === undefined) return next(new AppError('UNSUPPORTED_MEDIA_TYPE', unsupported(options.forms)));
    const stream = watchLength(request, options.limit, () => {
      refuseTooLarge(request, response, next, options.limit);
    });
    parser(request, response, (error?: unknown) => {
      if (stream.isTooLong()) return;
      stream.end();
      const problem = error === undefined ? refusedShape(request.body) : translate(error, options.limit);
      if (problem?.code === 'PAYLOAD_TOO_LARGE') response.setHeader('Connection', 'close');
      next(problem);
    });
  };
}

/**
 * Counts a body of unknown length as it arrives. Express counts as well, but reads such a body to its end before it
 * reports the error. A compressed body is counted compressed here; Express refuses one that becomes too large.
 */
function watchLength(
  request: Request,
  limit: number,
  onTooLong: () => void,
): { readonly isTooLong: () => boolean; readonly end: () => void } {
  let received = 0;
  const end = (): void => void request.off('data', count);
  const count = (chunk: Buffer): void => {
    received += chunk.length;
    if (received <= limit) return;
    end();
    onTooLong();
  };
  if (request.headers['transfer-encoding'] !== undefined) request.on('data', count);
  return { isTooLong: () => received > limit, end };
}

function refusedShape(body: unknown): AppError | undefined {
  const problem = shapeProblem(body);
  return problem === undefined ? undefined : new AppError('INVALID_ARGUMENT', problem);
}

function chooseParser(request: Request, json: RequestHandler, form?: RequestHandler): RequestHandler | undefined {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  const mediaType = type.trim().toLowerCase();
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return json;
  return mediaType === 'application/x-www-form-urlencoded' ? form : undefined;
}

function hasBody({ headers }: Request): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}

function refuseTooLarge(request: Request, response: Response, next: NextFunction, limit: number): void {
  answerEarly(request, response);
  next(new AppError('PAYLOAD_TOO_LARGE', `The body may be at most ${limit} bytes`));
}

function unsupported(forms: boolean): string {
  return `The body must be application/json${forms ? ' or application/x-www-form-urlencoded' : ''}`;
}

function translate(cause: unknown, limit: number): AppError {
  const type = cause instanceof Error && 'type' in cause ? cause.type : undefined;
  switch (type) {
    case 'entity.parse.failed':
      return new AppError('INVALID_ARGUMENT', 'The body is not valid JSON', { cause });
    case 'entity.too.large':
      return new AppError('PAYLOAD_TOO_LARGE', `The body may be at most ${limit} bytes`, { cause });
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return new AppError('UNSUPPORTED_MEDIA_TYPE', 'The charset or content encoding is not accepted', { cause });
    case 'request.aborted':
      return new AppError('INVALID_ARGUMENT', 'The request ended before its body did', { cause });
    default:
      return new AppError('INVALID_ARGUMENT', 'The body cannot be read', { cause });
  }
}
