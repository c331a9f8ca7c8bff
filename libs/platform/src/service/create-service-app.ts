import { join } from 'node:path';
import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application, Request, RequestHandler, Response } from 'express';
import { serveConsole } from '../console/serve-console.js';
import { serveHelp } from '../console/serve-help.js';
import { answerClientErrors } from '../errors/client-errors.js';
import { ErrorFilter } from '../errors/error.filter.js';
import { ErrorTranslator } from '../errors/error-translator.js';
import { fixedPathMethods } from '../errors/fixed-paths.js';
import { HealthRegistry } from '../health/health-registry.js';
import { bodyParsers, DEFAULT_BODY_LIMIT } from '../http/body-parsers.js';
import { writeAddedHeaders } from '../http/exchange.js';
import { fixedRoutes } from '../http/fixed-routes.js';
import { receiveRequests } from '../http/receive-requests.js';
import { JsonLogger } from '../logging/json-logger.js';
import { isLocalRequest } from '../metrics/metrics-access.js';
import { MetricsRegistry } from '../metrics/metrics-registry.js';
import { observeRequests } from '../metrics/observe-requests.js';
import { serveDocsPage } from '../openapi/docs-page.js';
import { createOpenApiDocument, type OpenApiOptions } from '../openapi/openapi-document.js';
import { awaitSource, nameProxyClients } from '../proxy-clients/name-proxy-clients.js';
import type { ServiceSettings } from '../settings/service-settings.js';
import { createValidationPipe } from '../validation/validation-pipe.js';
import { PlatformModule } from './platform.module.js';
import { skipIdleInterceptors } from './selective-interceptors.js';
import { ServiceHttpAdapter } from './service-http-adapter.js';
import type { HttpOptions, ServiceAppOptions } from './service-options.js';

/** Options of every Nest application here. */
export const NEST_OPTIONS = { bodyParser: false, abortOnError: false, bufferLogs: false } as const;

/**
 * The complete application of a service, configured but neither initialised nor listening:
 * the caller does `await app.init()` or `await app.listen(port)`.
 */
export async function createServiceApp(options: ServiceAppOptions): Promise<NestExpressApplication> {
  const logger = options.logger ?? createLogger(options);
  const app = await NestFactory.create<NestExpressApplication>(rootModule(options, logger), new ServiceHttpAdapter(), {
    ...NEST_OPTIONS,
    logger,
  });
  return configureServiceApp(app, options);
}

/** A service's logger according to its settings. */
export function createLogger({ name, settings }: Pick<ServiceAppOptions, 'name' | 'settings'>): JsonLogger {
  return new JsonLogger({ service: name, level: settings.logLevel });
}

/** The module tree of a service: its own module and the platform's. For tests that override providers. */
export function rootModule(
  { module }: Pick<ServiceAppOptions, 'module'>,
  logger: JsonLogger,
): {
  module: typeof ServiceRoot;
  imports: [ReturnType<typeof PlatformModule.forRoot>, ServiceAppOptions['module']];
} {
  return { module: ServiceRoot, imports: [PlatformModule.forRoot(logger), module] };
}

class ServiceRoot {}

/** Middleware, filter, pipe and the platform's own routes, on an application made with ServiceHttpAdapter and NEST_OPTIONS. */
export function configureServiceApp(
  app: NestExpressApplication,
  { http, settings }: Pick<ServiceAppOptions, 'http' | 'settings'>,
): NestExpressApplication {
  const adapter = app.getHttpAdapter();
  if (adapter instanceof ServiceHttpAdapter) {
    adapter.present = http.present;
    adapter.entityTag = http.entityTag;
    adapter.compresses = http.compress ?? false;
  }
  const application = adapter.getInstance();
  const metrics = app.get(MetricsRegistry);
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', [...settings.trustedProxies]);
  writeAddedHeaders(application);
  skipIdleInterceptors();
  app.use(receiveRequests(observeRequests(metrics)));
  const proxyClients = http.proxyClients?.(app) ?? null;
  if (proxyClients !== null) app.use(nameProxyClients(app.getHttpServer(), proxyClients));
  if (http.entrance !== undefined) app.use(http.entrance(app));
  const steps = stepsOf(app, http);
  app.use(fixedRoutes(application, steps));
  serveHealth(application, app.get(HealthRegistry));
  serveMetrics(application, metrics, settings);
  if (http.openapi !== undefined) serveOpenApi(app, application, http.openapi, http);
  if (http.console !== undefined) {
    serveConsole(application, http.console, app.get(JsonLogger));
    serveHelp(application, join(http.console.folder, '../help'), app.get(JsonLogger));
  }
  for (const step of steps) app.use(step);
  if (http.globalPrefix !== undefined) app.setGlobalPrefix(http.globalPrefix);
  const translator = new ErrorTranslator(http.errorTexts);
  app.useGlobalFilters(new ErrorFilter(http.errorFormat, translator, app.get(JsonLogger), metrics));
  app.useGlobalPipes(createValidationPipe(http.validationCode ?? defaultValidationCode(http)));
  limitServer(app.getHttpServer());
  answerClientErrors(app.getHttpServer(), http.errorFormat);
  return app;
}

/** What every request to the API passes before its handler. */
function stepsOf(app: NestExpressApplication, http: HttpOptions): RequestHandler[] {
  return [
    ...(http.middleware ?? []).map((make) => make(app)),
    // After the service's observers of calls, because refused requests are calls as well.
    fixedPathMethods(app.getHttpAdapter().getInstance()),
    bodyParsers({
      limit: http.bodyLimit ?? DEFAULT_BODY_LIMIT,
      forms: http.forms ?? false,
      streamedPaths: http.streamedPaths ?? [],
    }),
    ...(http.proxyClients === undefined ? [] : [awaitSource]),
    ...(http.afterBody ?? []).map((make) => make(app)),
  ];
}

function defaultValidationCode({ errorFormat }: HttpOptions): 'VALIDATION_FAILED' | 'INVALID_ARGUMENT' {
  return errorFormat === 'problem' ? 'VALIDATION_FAILED' : 'INVALID_ARGUMENT';
}

/** Plain routes rather than controllers: no guard, throttle or validation stands between them and the monitor. */
function serveHealth(application: Application, health: HealthRegistry): void {
  application.get('/healthz', (_request, response) => sendStatus(response, 200, { status: 'ok' }));
  application.get('/readyz', async (_request, response) => {
    const report = await health.report();
    sendStatus(response, report.status === 'unavailable' ? 503 : 200, report);
  });
}

/**
 * For others than local programs this path does not exist, unless everyone may read it. With a separate port it does
 * not exist here at all, because a proxy on this machine looks like a local program.
 */
function serveMetrics(
  application: Application,
  metrics: MetricsRegistry,
  { metricsOnPublicPort, metricsPort }: ServiceSettings,
): void {
  application.get('/metrics', async (request, response, next) => {
    if (!metricsOnPublicPort && (metricsPort !== undefined || !isLocalRequest(request))) return next();
    const { contentType, text } = await metrics.render();
    response.setHeader('Content-Type', contentType);
    response.end(text);
  });
}

function sendStatus(response: Response, status: number, body: object): void {
  response.status(status).setHeader('Cache-Control', 'no-store').json(body);
}

function serveOpenApi(
  app: INestApplication,
  application: Application,
  openapi: OpenApiOptions,
  { errorFormat }: HttpOptions,
): void {
  const describe = (): Promise<OpenAPIObject> => createOpenApiDocument(app, openapi, errorFormat);
  serveDocument(application, openapi.path, describe);
  for (const { path, make } of openapi.derived ?? []) {
    serveDocument(application, path, async () => make(await describe(), app));
  }
  serveDocsPage(application, openapi.title, openapi.path);
}

/** Made at the first request. */
function serveDocument(application: Application, path: string, make: () => Promise<object>): void {
  let document: Promise<string> | undefined;
  application.get(path, async (_request: Request, response: Response) => {
    document ??= make().then((value) => JSON.stringify(value));
    // The next reader tries again.
    document.catch(() => (document = undefined));
    response.type('application/json').send(await document);
  });
}

/** Slow senders and idle connections are cut; the keep-alive time is longer than that of usual load balancers. */
function limitServer(server: Server): void {
  server.headersTimeout = 15_000;
  server.requestTimeout = 120_000;
  server.keepAliveTimeout = 65_000;
  server.maxRequestsPerSocket = 0;
}
