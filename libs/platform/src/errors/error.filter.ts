import { Catch, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { acceptedLanguage } from '@gatehouse/i18n';
import type { Request, Response, Application } from 'express';
import type { JsonLogger } from '../logging/json-logger.js';
import { currentRequestId, noteErrorCode } from '../logging/request-context.js';
import type { MetricsRegistry } from '../metrics/metrics-registry.js';
import { AppError } from './app-error.js';
import { classifyError } from './classify-error.js';
import { formatError, type ErrorFormat } from './error-format.js';
import { isPageView, sendErrorPage } from './error-page.js';
import type { ErrorTranslator } from './error-translator.js';
import { methodNotAllowed } from './fixed-paths.js';

/** Turns everything thrown during a request into one body of the service's wire format, and logs it at its level. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly format: ErrorFormat;
  private readonly translator: ErrorTranslator;
  private readonly logger: JsonLogger;
  private readonly metrics: MetricsRegistry;

  constructor(format: ErrorFormat, translator: ErrorTranslator, logger: JsonLogger, metrics: MetricsRegistry) {
    this.format = format;
    this.translator = translator;
    this.logger = logger;
    this.metrics = metrics;
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = wrongMethod(thrown, request) ?? classifyError(thrown);
    this.report(error, request);
    this.metrics.noteError(error.code, error.limit);
    if (response.headersSent) {
      // The client already has a part of another answer: only a cut connection shows it that this one is void.
      response.destroy();
      return;
    }
    if (isPageView(request)) sendErrorPage(request, response, error);
    else this.answer(error, request, response);
  }

  private answer(error: AppError, request: Request, response: Response): void {
    // A client that asks for no language gets English: `*` is what many send by default.
    const language = acceptedLanguage(request.headers['accept-language']);
    const { contentType, body } = formatError(error, this.formatFor(request), currentRequestId(), (text) =>
      this.translator.text(language, text),
    );
    // As sent to the client, because its developer will search for this text.
    noteErrorCode(typeof body['code'] === 'string' ? body['code'] : error.code);
    if (language !== 'en') response.setHeader('Content-Language', language);
    for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
    if (error.retryAfterSeconds !== undefined) {
      response.setHeader('Retry-After', String(error.retryAfterSeconds));
    }
    response.status(error.status).setHeader('Content-Type', contentType);
    response.setHeader('Cache-Control', 'no-store');
    response.end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
  }

  /** A client of the envelope can request RFC 9457 instead. */
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

/** A 405 for an address that exists with other methods. */
function wrongMethod(thrown: unknown, request: Request): AppError | undefined {
  if (!(thrown instanceof NotFoundException) || request.route !== undefined) return undefined;
  const allowed = allowedMethods(request.app, request.path);
  if (allowed.length === 0) return undefined;
  return methodNotAllowed(request.method, allowed);
}

/** The parts of Express 5's router layers that are read here. */
interface RouteLayer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/**
 * Methods of the routes that match a path, for the Allow header of a 405; empty if nothing matches. A fixed path such
 * as /things/export is not an id of /things/:id.
 */
function allowedMethods(application: Application, path: string): string[] {
  const { stack } = application.router as unknown as { stack: readonly RouteLayer[] };
  const routes = stack.flatMap((layer) => {
    const { route } = layer;
    return route === undefined || route.methods['_all'] === true || !matches(layer, path) ? [] : [route];
  });
  const fixed = routes.filter((route) => route.path === path);
  const methods = new Set<string>();
  for (const route of fixed.length > 0 ? fixed : routes) {
    for (const method of Object.keys(route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

function matches(layer: RouteLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch (error) {
    // A path that cannot be decoded matches no route.
    if (error instanceof URIError || (error instanceof Error && 'status' in error)) return false;
    throw error;
  }
}
