import { DocumentParser } from '../../src/documents/document-parser.js';

/** Runs its thread from source, so that no build is needed. */
export function testParser(): DocumentParser {
  return new DocumentParser(new URL('../../src/documents/parser-thread.ts', import.meta.url), [
    '--conditions=development',
    '--no-warnings',
    `--import=${new URL('./typescript-sources.mjs', import.meta.url).href}`,
  ]);
}
