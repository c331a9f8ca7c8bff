import { throughTestKeys } from './support/test-key-mode.js';

// The suite once more, through test keys.
throughTestKeys({
  'is not found, by nobody, and earns nothing; who had it keeps it; it is back with its sharer':
    'test shares of a disabled account are not shut',
  'releases its link: the next sharer keeps it, and the deleted share stays deleted':
    'test shares of a disabled account are not shut',
  'is found by nobody when it was shared in the moment of that': 'test shares of a disabled account are not shut',
  'without the scope: 403; for an application without a user: 403 OPENAPI_USER_REQUIRED':
    'the token lacks the scope, and not the key',
  'through an application: the user pays, and the record names the application':
    'registers applications of test accounts',
  'of another request: 422; of another user or application: another key': 'registers applications of test accounts',
  'while the first is running: 409 with Retry-After, then its answer': 'holds more connections than test mode has',
});
await import(/* @vite-ignore */ new URL('unlocks.e2e-spec.ts?test-mode', import.meta.url).href);
