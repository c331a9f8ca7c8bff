import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TunnelConfig } from '@gatehouse/tunnel-kernel';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { optionalPeer, requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { Tunnel } from '../support/tunnel.js';

const run = promisify(execFile);
const programs = new Programs();
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-proxy-protocol-'));
let tunnel: Tunnel;

beforeEach(async () => {
  tunnel = await Tunnel.start({ trustedProxies: ['127.0.0.0/8'] });
});
afterEach(async () => {
  await tunnel.close();
  await programs.stopAll();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** An nginx that takes connections with a PROXY protocol header only, and answers what the header said. */
function startNginx(nginx: string): Promise<number> {
  return programs.start(nginx, (port) => {
    const file = path.join(folder, `nginx-${port}.conf`);
    writeFileSync(
      file,
      `daemon off; master_process off; pid ${folder}/nginx-${port}.pid; error_log stderr crit;
      events {}
      http {
        access_log off;
        client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
        uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
        server {
          listen 127.0.0.1:${port} proxy_protocol;
          location / { return 200 "$proxy_protocol_addr $proxy_protocol_server_port"; }
        }
      }`,
    );
    return ['-p', folder, '-c', file];
  });
}

/** An xray that passes its connections on to `target` with a header that says from whom they are. */
function startXray(xray: string, target: number, version: 1 | 2): Promise<number> {
  return programs.start(xray, (port) => {
    const file = path.join(folder, `xray-${port}.json`);
    const settings = { address: '127.0.0.1', port: target, network: 'tcp' };
    const inbounds = [{ listen: '127.0.0.1', port, protocol: 'dokodemo-door', settings }];
    const outbounds = [{ protocol: 'freedom', settings: { proxyProtocol: version } }];
    writeFileSync(file, JSON.stringify({ log: { loglevel: 'error' }, inbounds, outbounds }));
    return ['run', '-c', file];
  });
}

function tunnelTo(target: number, more: Partial<TunnelConfig>): Promise<number> {
  return tunnel.open(target, { acceptProxyProtocol: true, ...more });
}

/** What is answered to a visitor at `localAddress`. */
function answer(port: number, localAddress: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', localAddress, agent: false }, (response) => {
      let body = '';
      response.on('data', (part) => (body += String(part)));
      response.on('end', () => resolve(body));
    }).on('error', reject);
  });
}

describe.each([1, 2] as const)('PROXY protocol version %d to nginx', (toTarget) => {
  it('with the address that curl sends', async (context) => {
    const [curl, nginx] = [requirePeer(context, 'curl'), requirePeer(context, 'nginx')];
    const port = await tunnelTo(await startNginx(nginx), { proxyProtocol: toTarget });
    const args = [
      '-sS',
      '--max-time',
      '10',
      '--haproxy-protocol',
      '--interface',
      '127.0.0.5',
      `http://127.0.0.1:${port}/`,
    ];
    const { stdout } = await run(curl, args);
    expect(stdout).toBe(`127.0.0.5 ${port}`);
  });

  it.for([1, 2] as const)('with the address that xray sends in version %d', async (fromProxy, context) => {
    const nginx = requirePeer(context, 'nginx');
    const xray = optionalPeer(context, 'xray');
    const port = await tunnelTo(await startNginx(nginx), { proxyProtocol: toTarget });
    const entry = await startXray(xray, port, fromProxy);
    const body = await answer(entry, '127.0.0.9');
    expect(body.split(' ')[0]).toBe('127.0.0.9');
    expect(tunnel.server.takeVisitors().map(({ address }) => address)).toContain('127.0.0.9');
    // Rules are about the visitor, not about the proxy.
    const denied = {
      id: 1,
      scope: 'tunnel',
      resourceId: 7,
      type: 'deny',
      kind: 'exact',
      pattern: '127.0.0.9',
      priority: 1,
    } as const;
    const listen = { host: '127.0.0.1', port };
    await tunnel.open(1, { acceptProxyProtocol: true, listen }, { ipRules: [denied] });
    await expect(answer(entry, '127.0.0.9')).rejects.toThrow();
  });
});
