import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from './certificates.js';
import { reservePort } from './reserve-port.js';
import { endProgram, takes, TestNames } from './test-names.js';
import { waitFor } from './wait-for.js';

export interface PebbleOptions {
  programs: { pebble: string; names: string };
  /** Where it looks at what is proven: the ports of the gateway. */
  ports: { http: number; https: number };
  /** `host:port` of the name server that it asks; by default one where every name is 127.0.0.1. */
  nameServer?: string;
  /** Accounts have to be bound with this key. */
  binding?: { kid: string; macKey: string };
}

/** Let's Encrypt's authority for tests, which really looks, and refuses every other nonce on purpose. */
export class Pebble {
  readonly directory: string;
  /** PEM of who signed the certificate of its own port. */
  readonly authorityFile: string;
  private readonly folder: string;
  private readonly options: PebbleOptions;
  private readonly management: number;
  private readonly port: number;
  private names: TestNames | null = null;
  private authority: ChildProcess | null = null;
  private output = '';

  private constructor(options: PebbleOptions, port: number, management: number) {
    this.options = options;
    this.port = port;
    this.management = management;
    this.folder = mkdtempSync(join(tmpdir(), 'pebble-'));
    this.directory = `https://127.0.0.1:${port}/dir`;
    this.authorityFile = join(this.folder, 'authority.pem');
    const { certificate, key } = makeCertificate({ subject: 'pebble', names: ['127.0.0.1'], ca: true });
    writeFileSync(this.authorityFile, certificate);
    writeFileSync(join(this.folder, 'key.pem'), key);
  }

  static async start(options: PebbleOptions): Promise<Pebble> {
    const pebble = new Pebble(options, await reservePort(), await reservePort());
    pebble.names = await TestNames.start(options.programs.names);
    await pebble.startAuthority(options.nameServer ?? pebble.names.address);
    return pebble;
  }

  /** How many orders it has been given. */
  get orders(): number {
    return this.output.split('Added order "').length - 1;
  }

  /** PEM of the root that its certificates lead to. */
  async root(): Promise<string> {
    const ca = readFileSync(this.authorityFile);
    const asked = request({ host: '127.0.0.1', port: this.management, path: '/roots/0', ca });
    asked.end();
    const [response] = (await once(asked, 'response')) as [AsyncIterable<Buffer>];
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part);
    return Buffer.concat(parts).toString();
  }

  /** It is gone; names are still answered. */
  async fail(): Promise<void> {
    await endProgram(this.authority);
  }

  async close(): Promise<void> {
    await endProgram(this.authority);
    await this.names?.close();
    rmSync(this.folder, { recursive: true });
  }

  private async startAuthority(names: string): Promise<void> {
    const { programs, ports, binding } = this.options;
    const config = {
      listenAddress: `127.0.0.1:${this.port}`,
      managementListenAddress: `127.0.0.1:${this.management}`,
      certificate: this.authorityFile,
      privateKey: join(this.folder, 'key.pem'),
      httpPort: ports.http,
      tlsPort: ports.https,
      externalAccountBindingRequired: binding !== undefined,
      externalAccountMACKeys: binding ? { [binding.kid]: binding.macKey } : {},
    };
    const file = join(this.folder, 'config.json');
    writeFileSync(file, JSON.stringify({ pebble: config }));
    const env = { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '50', PEBBLE_AUTHZREUSE: '0' };
    const args = ['-config', file, '-strict', '-dnsserver', names];
    const child = spawn(programs.pebble, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => (this.output = (this.output + text.toString()).slice(-1_000_000)));
    }
    this.authority = child;
    await waitFor(() => takes(this.port));
  }
}
