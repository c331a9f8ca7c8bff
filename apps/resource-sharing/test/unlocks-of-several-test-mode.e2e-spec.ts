import { throughTestKeys } from './support/test-key-mode.js';

// The suite once more, through test keys.
throughTestKeys({
  'that has to wait for too long changes nothing': 'holds more connections than test mode has',
});
await import(/* @vite-ignore */ new URL('unlocks-of-several.e2e-spec.ts?test-mode', import.meta.url).href);
