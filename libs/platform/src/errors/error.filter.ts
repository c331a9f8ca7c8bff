import { Catch, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { JsonLogger } from '../logging/json-logger.js';
import { currentRequestId } from '../logging/request-context.js';
import { allowedMethods } from './allowed-methods.js';
import { AppError } from './app-error.js';
import { classifyError } from './classify-error.js';
import { formatError, type ErrorFormat } from './error-format.js';
import { methodNotAllowed } from './fixed-paths.js';

/** Turns everything thrown while a request runs into one body of the service's wire format, and logs it at its level. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly format: ErrorFormat;
  private readonly logger: JsonLogger;

  constructor(format: ErrorFormat, logger: JsonLogger) {
    this.format = format;
    this.logger = logger;
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = wrongMethod(thrown, request) ?? classifyError(thrown);
    this.report(error, request);
    if (response.headersSent) {
      // The client already has a part of another answer: only a cut connection tells it that this one is void.
      response.destroy();
      return;
    }
    this.answer(error, request, response);
  }

  private answer(error: AppError, request: Request, response: Response): void {
    const { contentType, body } = formatError(error, this.formatFor(request), currentRequestId());
    for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
    if (error.retryAfterSeconds !== undefined) {
      response.setHeader('Retry-After', String(error.retryAfterSeconds));
    }
    response.status(error.status).setHeader('Content-Type', contentType);
    response.setHeader('Cache-Control', 'no-store');
    response.end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
  }

  /** A client of the envelope may ask for RFC 9457 instead. */
  private formatFor(request: Request): ErrorFormat {
    if (this.format !== 'envelope') return this.format;
    return request.headers.accept?.includes('application/problem+json') === true ? 'problem' : 'envelope';
  }

  private report(error: AppError, request: Request): void {
    const fields = {
      method: request.method,
      path: request.path,
      status: error.status,
      code: error.code,
      ...(error.cause === undefined || error.level === 'debug' ? {} : { error: error.cause }),
    };
    const level = error.level === 'info' ? 'log' : error.level;
    this.logger[level](error.message, fields, 'ErrorFilter');
  }
}

/** A 405 for an address that exists under other methods. */
function wrongMethod(thrown: unknown, request: Request): AppError | undefined {
  if (!(thrown instanceof NotFoundException) || request.route !== undefined) return undefined;
  const allowed = allowedMethods(request.app, request.path);
  if (allowed.length === 0) return undefined;
  return methodNotAllowed(request.method, allowed);
}
