export { makeCertificate, type CertificateWish, type MadeCertificate } from './certificates.js';
export { CutLine } from './cut-line.js';
export { asnFile, countryFile, geositeFile } from './geo-files.js';
export { NameServer, type NameServerOptions } from './name-server.js';
export { Pebble, type PebbleOptions } from './pebble.js';
export { endProgram, takes, TestNames } from './test-names.js';
export { expectOldestReleases } from './expect-oldest-releases.js';
export { expectSchemaInSync } from './expect-schema-in-sync.js';
export { expectSqlFilesInSync } from './expect-sql-files-in-sync.js';
export { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from './test-database.js';
export { programEnvironment } from './program-environment.js';
export { reservePort, reservePorts } from './reserve-port.js';
export { waitFor } from './wait-for.js';
export {
  startHttpOrigin,
  startTcpEcho,
  type HttpOrigin,
  type RecordedRequest,
  type RunningServer,
  type ServerPlace,
  type TcpEcho,
} from './echo-servers.js';
export { startPgBouncer, type PgBouncer, type PgBouncerOptions } from './pgbouncer.js';
export { startPostgres, type PostgresServer, type PostgresServerOptions } from './postgres-server.js';
export {
  findPeer,
  PeerMissingError,
  peerOrSkip,
  startRedis,
  type RedisSecurity,
  type RedisServer,
} from './redis-server.js';
export { createTestApp, type TestApp, type TestAppOptions } from './test-app.js';
export { makeSshKeys, type SshKeys } from './ssh-keys.js';
export { temporaryRoot } from './temporary-root.js';
export {
  formOf,
  VisitorBrowser,
  type FoundForm,
  type PageAnswer,
  type PageAsked,
  type VisitedSite,
} from './visitor-browser.js';
export { logInFrom, type LoginAttempt } from './log-in-from.js';
export { isSignedBy, WebhookReceiver, type ReceivedMessage } from './webhook-receiver.js';
export * from './error-texts.js';
export * from './untranslated-texts.js';
