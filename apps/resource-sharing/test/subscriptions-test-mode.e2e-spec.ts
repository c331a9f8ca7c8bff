import { throughTestKeys } from './support/test-key-mode.js';

// The suite once more, through test keys.
throughTestKeys({});
await import(/* @vite-ignore */ new URL('subscriptions.e2e-spec.ts?test-mode', import.meta.url).href);
