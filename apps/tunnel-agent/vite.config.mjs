import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { requiredHttp } from '../../tools/bootstrap/required-http.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** One file that needs Node and nothing else. */
export default defineConfig({
  root: path('.'),
  publicDir: false,
  plugins: [requiredHttp()],
  resolve: { conditions: ['gatehouse-source'] },
  ssr: { noExternal: true, resolve: { conditions: ['gatehouse-source'] } },
  build: {
    ssr: path('src/main.ts'),
    outDir: path('dist'),
    // The compiler's output is beside it.
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: { output: { entryFileNames: 'gatehouse-agent.mjs', codeSplitting: false } },
  },
});
