import { throughTestKeys } from './support/test-key-mode.js';

// The suite once more, through test keys.
throughTestKeys({
  'without the scope: 403; for an application without a user: 403 OPENAPI_USER_REQUIRED':
    'the token lacks the scope, and not the key',
  'through an application: the user pays, and the record names the application':
    'registers applications of test accounts',
  'of another request: 422; of another user or application: another key': 'registers applications of test accounts',
  'while the first is running: 409 with Retry-After, then its answer': 'holds more connections than test mode has',
});
await import(/* @vite-ignore */ new URL('unlocks.e2e-spec.ts?test-mode', import.meta.url).href);
