export { readEntryAssets, type EntryAssets } from './console/console-files.js';
export { CONSOLE_POLICY, type ConsoleOptions } from './console/serve-console.js';
export { AppError, type AppErrorOptions, type ErrorDetail, type ErrorLevel } from './errors/app-error.js';
export { classifyError } from './errors/classify-error.js';
export { ErrorFilter } from './errors/error.filter.js';
export type { ErrorTexts } from './errors/error-texts.js';
export { readerTexts } from './errors/reader-text.js';
export { ErrorTranslator } from './errors/error-translator.js';
export { formatError, type ErrorBody, type ErrorFormat } from './errors/error-format.js';
export { HealthRegistry, type HealthCheck, type HealthReport } from './health/health-registry.js';
export { DEFAULT_BODY_LIMIT } from './http/body-parsers.js';
export { networkOf } from '@gatehouse/net';
export { beginEventStream, waitWhileOpen } from './http/event-stream.js';
export { assignClientAddress, clientAddress, type ClientAddress } from './http/client-address.js';
export { addedHeader, addHeader, onAnswered, type AnswerObserver } from './http/exchange.js';
export {
  idempotencyAnswerLost,
  idempotencyKeyLost,
  idempotencyKeyOf,
  idempotencyKeyReused,
  idempotencyKeyRunning,
  markReplayed,
  type IdempotencyKey,
} from './http/idempotency-key.js';
export { IdPipe } from './http/id.pipe.js';
export { jsonAnswer, serveWatchers, type WatchAnswer, type WatchRoutes } from './http/watch-server.js';
export { readerLanguage, readerTheme, THEME_COOKIE, themeOf } from './reader/reader-choice.js';
export { PAGE_POLICY } from './http/security-headers.js';
export {
  JsonLogger,
  type JsonLoggerOptions,
  type LogRecord,
  type LogTap,
  type RecordLevel,
} from './logging/json-logger.js';
export { isSecretField, redactText, redactValue } from './logging/redact.js';
export {
  currentAcceptLanguage,
  currentRequestId,
  runInRequestContext,
  type RequestContext,
} from './logging/request-context.js';
export { dataPlaneLoad, type DataPlaneLoad } from './metrics/data-plane-load.js';
export { MetricsRegistry, type ReadMetric } from './metrics/metrics-registry.js';
export { MetricsServer } from './metrics/metrics-server.js';
export { localMetrics, serveMetrics, type RenderMetrics } from './metrics/watch-metrics.js';
export { Answers, AnswersEvents, AnswersFile, AnswersNothing, Fails } from './openapi/answers.js';
export type { OperationExample } from './openapi/examples.js';
export { createOpenApiDocument, type OpenApiOptions } from './openapi/openapi-document.js';
export { awaitSource, namingFailure, nameProxyClients, pendingSource } from './proxy-clients/name-proxy-clients.js';
export type { AcceptedConnection, ConnectionEnd, ProxyClients } from './proxy-clients/proxy-clients.js';
export { ProxyClientsServer, type ProxyClientsServerParts } from './proxy-clients/proxy-clients-server.js';
export { RemoteProxyClients, remoteProxyClients } from './proxy-clients/remote-proxy-clients.js';
export {
  configureServiceApp,
  createLogger,
  createServiceApp,
  NEST_OPTIONS,
  rootModule,
} from './service/create-service-app.js';
export { shutdownGracefully } from './service/graceful-shutdown.js';
export { PlatformModule } from './service/platform.module.js';
export { explained, prepareSchema, type SchemaPreparation } from './service/prepare-schema.js';
export { runProcess, stopLimitOf, type RunningProcess } from './service/process-lifecycle.js';
export { runCommand } from './service/run-command.js';
export { runService, type ServiceDefinition } from './service/run-service.js';
export { runWorker, type WorkerDefinition } from './service/run-worker.js';
export { globalInterceptor, type SelectiveInterceptor } from './service/selective-interceptors.js';
export { ServiceHttpAdapter } from './service/service-http-adapter.js';
export type { HttpOptions, ServiceAppOptions } from './service/service-options.js';
export { StartError } from './errors/start-error.js';
export { explainListenError } from './service/start-failure.js';
export { loadSettings, type Environment } from './settings/load-settings.js';
export { pastTraces, type PastWork } from './http/trace-past.js';
export { traceCall, traceOutgoing } from './http/trace-outgoing.js';
export { tracingOptions, TracingSettings } from './settings/tracing-settings.js';
export { redisOptions, type RedisOptions } from './settings/redis-options.js';
export {
  isAddressRange,
  LOG_LEVELS,
  ServiceSettings,
  WORKER_MODES,
  type LogLevel,
  type WorkerMode,
} from './settings/service-settings.js';
export { SettingsError, type SettingProblem } from './settings/settings-error.js';
export { Channel, Channels, Port, Variable, type VariableKind, type VariableOptions } from './settings/variable.js';
export { SchemaRule } from './validation/schema-rules.js';
export { TypedPassword } from './validation/typed-password.js';
export { IgnoresUnknownFields } from './validation/unknown-fields.js';
export { answerEarly } from './http/answer-early.js';
export { shapeProblem } from './http/body-shape.js';
export { createValidationPipe, validationFailure, type ValidationCode } from './validation/validation-pipe.js';
export { FixedWindowStorage, type WindowCounter, type WindowState } from './throttling/fixed-window.js';
export { MemoryWindowCounter } from './throttling/memory-counter.js';
export {
  createThrottleTable,
  dropThrottleTable,
  PostgresWindowCounter,
  type NamedQueryClient,
} from './throttling/postgres-counter.js';
export {
  SkipThrottle,
  ThrottlingGuard,
  ThrottlingModule,
  type ThrottlingOptions,
} from './throttling/throttling.module.js';
export { MASK, maskUrl } from './logging/mask-url.js';
