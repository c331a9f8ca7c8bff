import { throughTestKeys } from './support/test-key-mode.js';

// The suite once more, through test keys.
throughTestKeys({
  'without body and content type: 4 to 10 points, doubled for Premium; no more on the same day':
    'sends a key without a token',
});
await import(/* @vite-ignore */ new URL('check-in.e2e-spec.ts?test-mode', import.meta.url).href);
