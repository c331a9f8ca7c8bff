/** A file that is no usable country database. Whatever is wrong with a file, opening it throws this and nothing else. */
export class GeoDatabaseError extends Error {
  readonly code = 'GEO_DATABASE_INVALID';
  constructor(message: string) {
    super(message);
    this.name = 'GeoDatabaseError';
  }
}
