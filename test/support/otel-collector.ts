import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { reservePort, waitFor } from '@gatehouse/testing';

/** The real OpenTelemetry Collector (`npm run peers -- --go`): takes OTLP over HTTP, and passes it on as JSON. */
export class OtelCollector implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url;
    this.#process = child;
    this.#folder = folder;
  }

  /** `receiver`: the base address of what gets the spans. */
  static async start(program: string, receiver: string): Promise<OtelCollector> {
    const port = await reservePort();
    const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-collector-'));
    const file = path.join(folder, 'collector.json');
    const settings = {
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters: { otlp_http: { endpoint: receiver, encoding: 'json', compression: 'none' } },
      service: {
        pipelines: { traces: { receivers: ['otlp'], exporters: ['otlp_http'] } },
      },
    };
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(settings));
    const child = spawn(program, ['--config', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const collector = new OtelCollector(`http://127.0.0.1:${port}`, child, folder);
    try {
      await waitFor(() => {
        if (child.exitCode !== null) throw new Error(errors);
        return accepts(port);
      });
    } catch (error) {
      await collector[Symbol.asyncDispose]();
      throw error;
    }
    return collector;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGTERM');
      await once(this.#process, 'exit');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}
