import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorFormat } from '../errors/error-format.js';
import { describeErrors } from './error-schemas.js';
import { describeValidatedClasses } from './validated-classes.js';

export interface OpenApiOptions {
  /** Where the document is served, such as /api/v1/openapi.json. */
  readonly path: string;
  readonly title: string;
  readonly description?: string;
  readonly version?: string;
  /** Name of the session cookie, where cookies are accepted. */
  readonly cookie?: string;
  /** Whether X-API-Key is accepted. Default: true. */
  readonly apiKeys?: boolean;
  /** Last word on the document, for what decorators cannot say. */
  readonly complete?: (document: OpenAPIObject) => OpenAPIObject;
}

/** The OpenAPI 3.1 document of an application. Loads the generator on first use: it is of no use to a running service. */
export async function createOpenApiDocument(
  app: INestApplication,
  options: OpenApiOptions,
  format: ErrorFormat,
): Promise<OpenAPIObject> {
  const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger');
  await describeValidatedClasses();
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(options.title)
    .setDescription(options.description ?? '')
    .setVersion(options.version ?? '1')
    .addBearerAuth({ type: 'http', scheme: 'bearer' }, 'bearer');
  const requirements: Record<string, string[]>[] = [{ bearer: [] }];
  if (options.apiKeys !== false) {
    builder.addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'api_key');
    requirements.push({ api_key: [] });
  }
  if (options.cookie !== undefined) {
    builder.addCookieAuth(options.cookie, { type: 'apiKey', in: 'cookie', name: options.cookie }, 'session');
    requirements.push({ session: [] });
  }
  const document = SwaggerModule.createDocument(app, builder.build());
  document.security = requirements;
  const described = describeErrors(document, format);
  return options.complete?.(described) ?? described;
}
