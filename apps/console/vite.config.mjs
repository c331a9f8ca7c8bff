import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** One page for each console, and the scripts of the sharing site and of the documentation; they share their chunks. Every file but the pages carries a hash of its content in its name. */
export default defineConfig({
  root: path('.'),
  publicDir: false,
  // Addresses in the page are relative: a proxy in front may put the service below a path.
  base: './',
  resolve: {
    alias: {
      '@gatehouse/contracts': path('../../libs/contracts/src/index.ts'),
      '@gatehouse/i18n': path('../../libs/i18n/src/index.ts'),
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: path('dist/site'),
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    // An inlined file would need `data:` in the policy of the page.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // The sharing site writes its pages itself: it finds what they need in the manifest.
    manifest: true,
    rolldownOptions: {
      input: {
        proxy: path('proxy.html'),
        tunnel: path('tunnel.html'),
        site: path('src/site/main.ts'),
        help: path('src/help/main.ts'),
      },
    },
  },
});
