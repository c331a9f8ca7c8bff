import { throughTestKeys } from './support/test-key-mode.js';

// The suite once more, through test keys.
throughTestKeys({
  'stays shut when its owner is enabled while another account shares the link':
    'holds more connections than test mode has',
  'needs a key, the scope, and for writing a user': 'the token lacks the scope, and not the key',
});
await import(/* @vite-ignore */ new URL('shares.e2e-spec.ts?test-mode', import.meta.url).href);
