/** Failures of the embedded PostgreSQL; each has one clear line with advice. */
export type EmbeddedPostgresErrorCode =
  | 'PLATFORM_UNSUPPORTED'
  | 'BINARIES_MISSING'
  | 'BINARIES_UNUSABLE'
  | 'NO_SYSTEM_USER'
  | 'HOME_UNUSABLE'
  | 'ALREADY_RUNNING'
  | 'ORPHAN_WILL_NOT_STOP'
  | 'PORT_TAKEN'
  | 'DATA_DIRECTORY_UNKNOWN'
  | 'DATA_DIRECTORY_DAMAGED'
  | 'WRONG_MAJOR_VERSION'
  | 'INITDB_FAILED'
  | 'START_FAILED'
  | 'START_TIMED_OUT';

export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
