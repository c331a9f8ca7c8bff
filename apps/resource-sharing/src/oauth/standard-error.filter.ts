import { AppError, classifyError, JsonLogger } from '@gatehouse/platform';
import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { OAuthError } from './oauth-error.js';

/** Errors on the paths of RFC 6749: only `error` and `error_description` (section 5.2). */
@Catch()
@Injectable()
export class StandardErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: JsonLogger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const error = classifyError(thrown);
    if (error.status >= 500) this.logger.error(error.message, { error: error.cause }, 'StandardErrorFilter');
    for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
    if (error.retryAfterSeconds !== undefined) {
      response.setHeader('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterSeconds))));
    }
    response.status(error instanceof OAuthError ? error.standardStatus : error.status);
    response.setHeader('Cache-Control', 'no-store').json({ error: nameOf(error), error_description: error.message });
  }
}

function nameOf(error: AppError): string {
  if (error instanceof OAuthError) return error.error;
  if (error.status >= 500) return 'server_error';
  return error.status === 429 ? 'temporarily_unavailable' : 'invalid_request';
}
