import type { AddressInfo } from 'node:net';
import {
  configureServiceApp,
  JsonLogger,
  NEST_OPTIONS,
  rootModule,
  ServiceHttpAdapter,
  type LogRecord,
  type ServiceAppOptions,
} from '@gatehouse/platform';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';

export interface TestAppOptions extends ServiceAppOptions {
  /** Replaces providers before the application is built. */
  override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
}

/** A complete service listening on a free loopback port. */
export interface TestApp extends AsyncDisposable {
  app: NestExpressApplication;
  /** `http://127.0.0.1:<port>` */
  url: string;
  port: number;
  /** What the service has logged, for assertions; nothing is printed. */
  logs: LogRecord[];
  close(): Promise<void>;
}

/**
 * SQLSTATE of statements that no database would carry out: a syntax error, and names and types that do not exist. Work in
 * the background logs an error and goes on, so that nothing else would show it.
 */
const WRONG_STATEMENT = /^42(?:601|703|804|883|P02|P18)$/;

function wrongStatements(logs: readonly LogRecord[]): string[] {
  return logs.flatMap(({ message, context, fields }) => {
    const { code, message: reason } = (fields['error'] ?? {}) as { code?: unknown; message?: unknown };
    return WRONG_STATEMENT.test(String(code)) ? [`${context}: ${message}: ${String(reason)}`] : [];
  });
}

/**
 * Builds and starts a service exactly as its main.ts does, without reading the environment or printing logs. `close` fails
 * when a statement of the service was wrong in itself.
 */
export async function createTestApp({ override, ...options }: TestAppOptions): Promise<TestApp> {
  const logs: LogRecord[] = [];
  const logger =
    options.logger ??
    new JsonLogger({ service: options.name, level: options.settings.logLevel, write: () => undefined });
  logger.tap((record) => logs.push(record));
  const builder = Test.createTestingModule({ imports: rootModule(options, logger).imports });
  const module = await (override?.(builder) ?? builder).setLogger(logger).compile();
  const app = module.createNestApplication<NestExpressApplication>(new ServiceHttpAdapter(), {
    ...NEST_OPTIONS,
    logger,
  });
  configureServiceApp(app, options);
  try {
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    await app.close();
    throw error;
  }
  const { port } = app.getHttpServer().address() as AddressInfo;
  const close = async (): Promise<void> => {
    await app.close();
    const wrong = wrongStatements(logs);
    if (wrong.length > 0) throw new Error(`Statements that cannot be carried out:\n${wrong.join('\n')}`);
  };
  return { app, url: `http://127.0.0.1:${port}`, port, logs, close, [Symbol.asyncDispose]: close };
}
