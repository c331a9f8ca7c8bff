import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import type { RequestHandler } from 'express';
import type { ConsoleOptions } from '../console/serve-console.js';
import type { ErrorFormat } from '../errors/error-format.js';
import type { ErrorTexts } from '../errors/error-texts.js';
import type { JsonLogger } from '../logging/json-logger.js';
import type { OpenApiOptions } from '../openapi/openapi-document.js';
import type { ProxyClients } from '../proxy-clients/proxy-clients.js';
import type { ServiceSettings } from '../settings/service-settings.js';
import type { Presentation } from './service-http-adapter.js';
import type { ValidationCode } from '../validation/validation-pipe.js';

/** What the HTTP side of a service needs to know; everything has a safe default but the wire format. */
export interface HttpOptions {
  readonly errorFormat: ErrorFormat;
  /** Chinese texts of the service's own errors. Default: none; codes, validation and the shared libraries have theirs. */
  readonly errorTexts?: ErrorTexts;
  /** Turns what handlers return into what is sent. Default: as it is. */
  readonly present?: Presentation;
  /** Compress long answers to reads. Default: false, for APIs that answer cookies of other sites' visitors. */
  readonly compress?: boolean;
  /** Such as api/v1. /healthz, /readyz, /metrics and /docs stay at the root. */
  readonly globalPrefix?: string;
  readonly openapi?: OpenApiOptions;
  /** What people see at `/`. */
  readonly console?: ConsoleOptions;
  /** Code of a failed validation. Default: VALIDATION_FAILED (422) for problem, else INVALID_ARGUMENT (400). */
  readonly validationCode?: ValidationCode;
  /** Bytes. Default: 10 MiB. */
  readonly bodyLimit?: number;
  /** Accept form bodies too. Default: false. */
  readonly forms?: boolean;
  /** Path prefixes whose handlers read the body themselves. */
  readonly streamedPaths?: readonly string[];
  /**
   * Who knows the clients of the platform's proxy: requests that came through it get their addresses. Those are known when
   * the body has been read; `pendingSource` is for who needs one before. Null: nobody knows. Made once, when the application is.
   */
  readonly proxyClients?: (app: INestApplication) => ProxyClients | null;
  /** Decides about every request before anything answers it, pages and /healthz included; made as `middleware` is. */
  readonly entrance?: (app: INestApplication) => RequestHandler;
  /** Runs for every request to the API before its body is read; made once, when the application is. */
  readonly middleware?: readonly ((app: INestApplication) => RequestHandler)[];
  /** Runs when the body has been read: what waits here loses no request whose client leaves meanwhile. Made as `middleware` is. */
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
