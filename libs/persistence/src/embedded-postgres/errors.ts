import { BilingualError, type Bilingual } from '@gatehouse/i18n';

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

export class EmbeddedPostgresError extends BilingualError {
  override readonly name = 'EmbeddedPostgresError';
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, text: Bilingual, options?: ErrorOptions) {
    super(text, options);
    this.code = code;
  }
}
