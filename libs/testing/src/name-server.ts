import { Resolver } from 'node:dns/promises';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reservePort } from './reserve-port.js';
import { endProgram, takes } from './test-names.js';
import { waitFor } from './wait-for.js';

export interface NameServerOptions {
  program: string;
  zone: string;
  /** May change TXT records of the zone. `secret`: base64. */
  key: { name: string; secret: string };
}

/** BIND on loopback: primary for one zone, which takes updates that are signed with a key. */
export class NameServer {
  readonly port: number;
  private readonly folder = mkdtempSync(join(tmpdir(), 'named-'));
  private child: ChildProcess | null = null;
  /** What it has said. */
  output = '';

  private constructor(port: number) {
    this.port = port;
  }

  static async start({ program, zone, key }: NameServerOptions): Promise<NameServer> {
    const server = new NameServer(await reservePort());
    const { folder, port } = server;
    writeFileSync(
      join(folder, 'zone.db'),
      `$TTL 60\n@ SOA ns.${zone}. ops.${zone}. 1 60 60 60 60\n@ NS ns.${zone}.\nns A 127.0.0.1\n`,
    );
    writeFileSync(
      join(folder, 'named.conf'),
      `key "${key.name}" { algorithm hmac-sha256; secret "${key.secret}"; };
       options {
         directory "${folder}"; pid-file none; session-keyfile none;
         listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
         recursion no; dnssec-validation no; notify no; allow-transfer { none; };
       };
       controls { };
       zone "${zone}" { type primary; file "zone.db"; update-policy { grant "${key.name}" subdomain ${zone}. TXT; }; };`,
    );
    server.child = spawn(program, ['-g', '-n', '1', '-c', join(folder, 'named.conf')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [server.child.stdout, server.child.stderr]) {
      stream?.on('data', (text: Buffer) => (server.output = (server.output + text.toString()).slice(-100_000)));
    }
    await waitFor(() => {
      if (server.child?.exitCode !== null) throw new Error(server.output);
      return takes(port);
    });
    return server;
  }

  /** TXT records of a name. */
  async txt(name: string): Promise<string[]> {
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${this.port}`]);
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
    } catch (error) {
      if (['ENODATA', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
      throw error;
    }
  }

  async close(): Promise<void> {
    await endProgram(this.child);
    rmSync(this.folder, { recursive: true });
  }
}
