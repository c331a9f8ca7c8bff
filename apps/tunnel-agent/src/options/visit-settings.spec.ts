import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgentSecret, formatAgentKey, formatVisitorKey } from '@gatehouse/tunnel-kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from './command-line.js';
import { readVisitSettings, type VisitSettings } from './visit-settings.js';

const fingerprint = Buffer.alloc(32, 7).toString('base64url');
const newKey = (): string => formatVisitorKey({ tunnelId: 7, secret: createAgentSecret(), fingerprint });
const key = newKey();
const other = newKey();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-visit-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function read(args: string[], environment: Record<string, string> = {}): VisitSettings {
  const command = readVisitSettings(args, environment, true);
  if (!('run' in command)) throw new Error('nothing to run');
  return command.run;
}

function problems(args: string[], environment: Record<string, string> = {}): readonly string[] {
  try {
    readVisitSettings(args, environment, true);
  } catch (error) {
    if (error instanceof UsageError) return error.problems();
    throw error;
  }
  return [];
}

const enough = ['--server', 'gw.example', '--listen', '3306', '--key', key];

describe('settings of a visitor', () => {
  it('need a server, a key and a port', () => {
    const { proxyFor, ...rest } = read(enough);
    expect(proxyFor({ host: 'gw.example', port: 8024 })).toBeNull();
    expect(rest).toEqual({
      server: { host: 'gw.example', port: 8024 },
      transport: 'auto',
      websocket: undefined,
      key,
      listen: { host: '127.0.0.1', port: 3306 },
      log: 'text',
      p2p: true,
    });
  });

  it('accept the address of a WebSocket as the server', () => {
    const settings = read(['--server', 'wss://gw.example/tunnels', '--listen', '[::1]:0', '--key', key]);
    expect(settings).toMatchObject({
      transport: 'websocket',
      websocket: { secure: true, host: 'gw.example', port: 443, path: '/tunnels' },
      listen: { host: '::1', port: 0 },
    });
    expect(read([...enough, '--transport', 'raw']).transport).toBe('raw');
  });

  it('come from the command line, the environment and a file, in this order', () => {
    const text = `server: file.example\nkey: ${other}\nlisten: 0.0.0.0:99\ntransport: raw\np2p: false\nlog: json\n`;
    const config = file('visit.yaml', text);
    expect(read(['--config', config])).toMatchObject({
      server: { host: 'file.example' },
      key: other,
      listen: { host: '0.0.0.0', port: 99 },
      transport: 'raw',
      p2p: false,
      log: 'json',
    });
    const environment = { GATEHOUSE_AGENT_SERVER: 'env.example', GATEHOUSE_VISITOR_KEY: key };
    expect(read(['--config', config, '--listen', '1'], environment)).toMatchObject({
      server: { host: 'env.example' },
      key,
      listen: { port: 1 },
    });
    const keyFile = file('key', `${other}\n`);
    expect(read(['--config', config, '--key-file', keyFile], environment).key).toBe(other);
  });

  it('are independent of the settings of an agent on the same machine', () => {
    const config = file('agent.yaml', 'server: file.example\n');
    const environment = { GATEHOUSE_AGENT_KEY: key, GATEHOUSE_AGENT_CONFIG: config };
    expect(problems(['--listen', '1'], environment)).toEqual([
      'no server: --server HOST:PORT',
      'no key: GATEHOUSE_VISITOR_KEY, --key-file FILE or --key KEY',
    ]);
  });

  it('are refused with everything that is wrong', () => {
    const agentKey = formatAgentKey({ secret: createAgentSecret(), fingerprint });
    const config = file('wrong.yaml', 'allow: ["*"]\n');
    expect(
      problems(['--server', 'a:b:c', '--key', agentKey, '--listen', 'x', '--log', 'loud', '--config', config]),
    ).toEqual([
      `${config}: "allow" is not known`,
      '"a:b:c" is not a server: write HOST:PORT or wss://HOST, an IPv6 address in brackets',
      'the key cannot be read: it begins with gtv1. and must be copied whole',
      '"x" is not a port: write 127.0.0.1:PORT',
      '"loud" is not a log format: text or json',
    ]);
    expect(problems([...enough.slice(2), '--server', 'wss://a', '--transport', 'auto'])).toEqual([
      'transport auto needs --server HOST:PORT',
    ]);
    expect(problems([...enough, '--key-file', join(folder, 'none')])).toEqual([]);
    expect(problems([...enough.slice(0, 4), '--key-file', join(folder, 'none')])).toMatchObject([
      expect.stringContaining('cannot be read: there is no such file'),
    ]);
  });

  it('are not needed to show the help', () => {
    expect(readVisitSettings(['--help'], {})).toEqual({ print: 'usage' });
  });
});
