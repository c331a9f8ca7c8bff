import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import type { RequestHandler } from 'express';
import type { ConsoleOptions } from '../console/serve-console.js';
import type { ErrorFormat } from '../errors/error-format.js';
import type { ErrorTexts } from '../errors/error-texts.js';
import type { JsonLogger } from '../logging/json-logger.js';
import type { OpenApiOptions } from '../openapi/openapi-document.js';
import type { ProxyClients } from '../proxy-clients/proxy-clients.js';
import type { ServiceSettings } from '../settings/service-settings.js';
import type { EntityTag, Presentation } from './service-http-adapter.js';
import type { ValidationCode } from '../validation/validation-pipe.js';

/** Options of the HTTP side of a service; everything except the wire format has a safe default. */
export interface HttpOptions {
  readonly errorFormat: ErrorFormat;
  /** Chinese texts of the service's own errors. Default: none; codes, validation and the shared libraries have theirs. */
  readonly errorTexts?: ErrorTexts;
  /** Converts the results of handlers for the wire. Default: unchanged. */
  readonly present?: Presentation;
  /** The ETag of results of handlers; GET, HEAD and PATCH send it. Default: none. */
  readonly entityTag?: EntityTag;
  /** Compresses long answers to reads. Default: false, for APIs that answer cookies of other sites' visitors. */
  readonly compress?: boolean;
  /** For example api/v1. /healthz, /readyz, /metrics and /docs stay at the root. */
  readonly globalPrefix?: string;
  readonly openapi?: OpenApiOptions;
  /** The page at `/`. */
  readonly console?: ConsoleOptions;
  /** Code of a failed validation. Default: VALIDATION_FAILED (422) for problem, else INVALID_ARGUMENT (400). */
  readonly validationCode?: ValidationCode;
  /** Bytes. Default: 10 MiB. */
  readonly bodyLimit?: number;
  /** Also accepts form bodies. Default: false. */
  readonly forms?: boolean;
  /** Path prefixes whose handlers read the body themselves. */
  readonly streamedPaths?: readonly string[];
  /**
   * Knows the clients of the platform's proxy: requests that came through it get their addresses. These are known when
   * the body has been read; `pendingSource` is for code that needs one before. Null: not available. Created once, with
   * the application.
   */
  readonly proxyClients?: (app: INestApplication) => ProxyClients | null;
  /** Checks every request before anything answers it, pages and /healthz included; created like `middleware`. */
  readonly entrance?: (app: INestApplication) => RequestHandler;
  /** Runs for every request to the API before its body is read; created once, with the application. */
  readonly middleware?: readonly ((app: INestApplication) => RequestHandler)[];
  /**
   * Runs after the body was read: waiting here loses no request whose client leaves in the meantime. Created like
   * `middleware`.
   */
  readonly afterBody?: readonly ((app: INestApplication) => RequestHandler)[];
}

export interface ServiceAppOptions {
  readonly name: string;
  readonly module: Type | DynamicModule;
  readonly settings: Readonly<ServiceSettings>;
  readonly http: HttpOptions;
  /** Default: JSON lines on standard output at the settings' level. */
  readonly logger?: JsonLogger;
}
