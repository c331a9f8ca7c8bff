import { DocumentParser } from '../../src/documents/document-parser.js';

/** Its thread is that of the last build. */
export function testParser(): DocumentParser {
  return new DocumentParser(new URL('../../bundle/documents/parser-thread.js', import.meta.url));
}
