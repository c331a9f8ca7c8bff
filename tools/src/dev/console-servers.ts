import { join } from 'node:path';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { StartedPlatform } from '../supervisor/platform.js';

/** Pages of the consoles by the service whose API they use, with the port that is tried first. */
const CONSOLES = [
  { service: 'proxy-gateway', page: 'proxy.html', port: 5173 },
  { service: 'tunnel-gateway', page: 'tunnel.html', port: 5174 },
] as const;

export interface ConsoleServer {
  url: string;
  close(): Promise<void>;
}

/** Serves the consoles from their sources, each with the API of its own service, and reloads what changes. */
export async function serveConsoles(services: StartedPlatform['services']): Promise<ConsoleServer[]> {
  // Only here: the image has the other commands, and not Vite.
  const { createServer } = await import('vite');
  return Promise.all(
    CONSOLES.map(async ({ service, page, port }) => {
      const target = services.find(({ entry }) => entry.name === service)?.url ?? '';
      const server = await createServer({
        configFile: join(ROOT, 'apps/console/vite.config.mjs'),
        cacheDir: join(ROOT, '.gatehouse', 'vite', service),
        logLevel: 'warn',
        server: {
          host: '127.0.0.1',
          port,
          // Services compare the origin of a browser's request with their own address.
          proxy: { '/api': { target, changeOrigin: true, headers: { origin: target } } },
        },
      });
      await server.listen();
      const { origin } = new URL(server.resolvedUrls?.local[0] ?? `http://127.0.0.1:${port}`);
      return { url: `${origin}/${page}`, close: () => server.close() };
    }),
  );
}
