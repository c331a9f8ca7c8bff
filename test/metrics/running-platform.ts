import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { reservePort } from '@gatehouse/testing';
import { RunningProxyGateway } from '../support/proxy-gateway.js';
import { RunningResourceSharing } from '../support/resource-sharing.js';
import { Scrape } from '../support/scrape.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

/** The three services with their data planes, and a worker, as processes on databases of their own. */
export class RunningPlatform implements AsyncDisposable {
  private constructor(
    readonly proxy: RunningProxyGateway,
    readonly tunnel: RunningTunnelGateway,
    readonly sharing: RunningResourceSharing,
    private readonly workerUrl: string,
    private readonly processes: AsyncDisposableStack,
  ) {}

  static async start(): Promise<RunningPlatform> {
    await using started = new AsyncDisposableStack();
    const proxy = started.use(await RunningProxyGateway.start());
    const tunnel = started.use(await RunningTunnelGateway.start());
    const sharing = started.use(await RunningResourceSharing.start());
    const port = await reservePort();
    const worker = fork(fileURLToPath(new URL('../../apps/proxy-gateway/bundle/worker.js', import.meta.url)), [], {
      env: { ...proxy.environment, HEALTH_PORT: String(port) },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    started.defer(async () => {
      worker.kill('SIGTERM');
      await once(worker, 'exit');
    });
    const [message] = (await once(worker, 'message')) as [{ type: string; lines?: string[] }];
    if (message.type !== 'ready') throw new Error(message.lines?.join('\n'));
    return new RunningPlatform(proxy, tunnel, sharing, `http://127.0.0.1:${port}`, started.move());
  }

  scrapeWorker(): Promise<Scrape> {
    return Scrape.of(this.workerUrl);
  }

  /** By process. */
  async scrapeAll(): Promise<Record<string, Scrape>> {
    return {
      'proxy-gateway': await Scrape.of(this.proxy.url),
      'tunnel-gateway': await Scrape.of(this.tunnel.url),
      'resource-sharing': await Scrape.of(this.sharing.url),
      worker: await this.scrapeWorker(),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.processes.disposeAsync();
  }
}
