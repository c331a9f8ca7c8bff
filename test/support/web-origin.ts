import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { waitFor } from '@gatehouse/testing';
import type { Programs } from './processes.js';

export interface OriginEntry {
  uri: string;
  /** Bytes of the whole request as nginx received it, head included. */
  requestBytes: number;
  /** Bytes of the whole answer as nginx sent it, head included. */
  answerBytes: number;
}

/** A real nginx: files of a folder, `/slow/` held to a rate, and a log of exact byte counts. */
export class NginxOrigin implements Disposable {
  readonly port: number;
  readonly #folder: string;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
  }

  static async start(programs: Programs, nginx: string, slowRate = '2m'): Promise<NginxOrigin> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-nginx-'));
    mkdirSync(path.join(folder, 'files'), { mode: 0o755 });
    const port = await programs.start(nginx, (candidate) => {
      const file = path.join(folder, 'nginx.conf');
      writeFileSync(file, configuration(folder, candidate, slowRate));
      return ['-p', folder, '-e', path.join(folder, 'error.log'), '-c', file];
    });
    return new NginxOrigin(port, folder);
  }

  write(name: string, content: string | Buffer): void {
    writeFileSync(path.join(this.#folder, 'files', name), content);
  }

  /** What was asked for and answered, in order of the end of each answer. */
  log(): OriginEntry[] {
    const lines = readFileSync(path.join(this.#folder, 'access.log'), 'utf8').trim().split('\n').filter(Boolean);
    return lines.map((line) => {
      const [uri = '', requestBytes, answerBytes] = line.split(' ');
      return { uri, requestBytes: Number(requestBytes), answerBytes: Number(answerBytes) };
    });
  }

  /** Resolves when no request is open there: what was asked for until now is in the log. */
  async untilLogged(): Promise<void> {
    await waitFor(async () => {
      const answer = await fetch(`http://127.0.0.1:${this.port}/status`);
      // The one that is written is this answer.
      return (await answer.text()).includes('Reading: 0 Writing: 1 ');
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function configuration(folder: string, port: number, slowRate: string): string {
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `
${user}
daemon off;
# As one process: a worker would outlive a master that is killed.
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  log_format bytes '$uri $request_length $bytes_sent';
  access_log ${folder}/access.log bytes;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port} backlog=1024;
    root ${folder}/files;
    location = /status { stub_status; access_log off; }
    location /slow/ { alias ${folder}/files/; limit_rate ${slowRate}; }
  }
}
`;
}
