import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { KeptLogins } from '../gateway/kept-logins.js';
import { UsageError } from '../options/command-line.js';
import { readPublishSettings, type PublishSettings } from './publish-settings.js';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-publish-'));
afterAll(() => rmSync(folder, { recursive: true }));
const ENVIRONMENT = { GATEHOUSE_GATEWAY: 'https://gw.example.org', GATEHOUSE_API_KEY: 'gtk_secret' };

function read(args: string[], environment: Record<string, string> = ENVIRONMENT, isTerminal = true): PublishSettings {
  const command = readPublishSettings(args, environment, isTerminal);
  if (!('run' in command)) throw new Error('not run');
  return command.run;
}

function problems(args: string[], environment: Record<string, string> = ENVIRONMENT, isTerminal = true): string[] {
  try {
    read(args, environment, isTerminal);
    return [];
  } catch (error) {
    return (error as UsageError).problems();
  }
}

describe('what is published', () => {
  it.each([
    ['3000', 'http', '127.0.0.1:3000'],
    [':3000', 'http', '127.0.0.1:3000'],
    ['nas.lan:80', 'http', 'nas.lan:80'],
    ['https://nas.lan:443/', 'https', 'nas.lan:443'],
    ['h2c://[::1]:50051', 'h2c', '[::1]:50051'],
  ])('http %s leads to %s at %s', (what, scheme, target) => {
    expect(read(['http', what]).publish).toEqual([{ kind: 'http', scheme, target, name: undefined }]);
  });

  it.each([
    ['6000-6010', '127.0.0.1:6000-6010', 11],
    ['nas.lan:80-81', 'nas.lan:80-81', 2],
    ['[::1]:80-89', '[::1]:80-89', 10],
    ['a-1:80', 'a-1:80', 1],
  ])('tcp %s leads to %s', (what, target, count) => {
    expect(read(['tcp', what, '--port', '7000']).publish).toEqual([{ kind: 'tcp', target, port: 7000, count }]);
  });

  it('is read from a file, with paths relative to it', () => {
    const file = join(folder, 'gatehouse.yaml');
    writeFileSync(join(folder, 'key'), 'gtk_of-the-file\n');
    const entries = 'publish: [{http: 3000, name: a.example.org}, {tcp: "db:5432", port: 20001}, {share: .}]';
    writeFileSync(file, `gateway: https://other.example.org\napi_key_file: key\nproxy: none\n${entries}\n`);
    const { proxyFor, proxy, ...rest } = read(['up', '--config', file], {});
    expect(proxy).toEqual({ setting: 'none', environment: {} });
    expect(proxyFor({ host: 'other.example.org', port: 443 })).toBeNull();
    expect(rest).toEqual({
      gateway: 'https://other.example.org',
      apiKey: 'gtk_of-the-file',
      isLogin: false,
      log: 'text',
      publish: [
        { kind: 'http', scheme: 'http', target: '127.0.0.1:3000', name: 'a.example.org' },
        { kind: 'tcp', target: 'db:5432', port: 20_001, count: 1 },
        { kind: 'share', folder, port: 0 },
      ],
    });
    expect(read(['up', '--config', file]).gateway).toBe('https://gw.example.org');
  });
});

describe('a mistake', () => {
  it('is reported together with the others', () => {
    expect(problems(['http', 'x'], { XDG_CONFIG_HOME: folder }, false)).toEqual([
      '"x" is not a target: write PORT or HOST:PORT',
      'no gateway: --gateway https://HOST, the address of its console, or GATEHOUSE_GATEWAY',
      'no API key: gatehouse-agent login, GATEHOUSE_API_KEY or --api-key-file FILE',
    ]);
  });

  it('is no missing key where a login was kept, or can be offered at a terminal', () => {
    const config = mkdtempSync(join(folder, 'config-'));
    const environment = { XDG_CONFIG_HOME: config };
    const logins = KeptLogins.of(environment);
    logins.keep('https://gw.example.org:8443', { api_key: 'gtk_kept', username: 'ann' });
    const only = read(['http', '3000'], environment, false);
    expect(only).toMatchObject({ gateway: 'https://gw.example.org:8443', apiKey: 'gtk_kept', isLogin: true });
    const other = ['http', '3000', '--gateway', 'https://other.example.org'];
    expect(read(other, environment)).toMatchObject({ apiKey: null });
    expect(problems(other, environment, false)).toEqual([expect.stringContaining('no API key')]);
    // What is named wins over what was kept.
    expect(read(['http', '3000'], { ...environment, GATEHOUSE_API_KEY: 'gtk_x' })).toMatchObject({ apiKey: 'gtk_x' });

    logins.keep('https://other.example.org', { api_key: 'gtk_b', username: 'ann' });
    expect(problems(['http', '3000'], environment)).toEqual([
      'this machine is logged in at several gateways, so one has to be named: https://gw.example.org:8443, https://other.example.org',
    ]);
    writeFileSync(logins.pathOf('https://other.example.org'), '{}');
    expect(problems(other, environment)).toEqual([expect.stringContaining('not a login')]);
    for (const gateway of logins.gateways()) logins.remove(gateway);
    expect(existsSync(config)).toBe(false);
  });

  it.each<[string[], string]>([
    [['http'], 'nothing to publish'],
    [['http', '3000', '4000'], '"4000" is not an option'],
    [['http', '70000'], 'is not a target'],
    [['http', '3000-3001'], 'is not a target'],
    [['tcp', '3001-3000'], 'is not a target'],
    [['tcp', '3000-3000'], 'is not a target'],
    [['tcp', '65535-65536'], 'is not a target'],
    [['http', '3000', '--port', '1'], 'http has a name'],
    [['tcp', '22', '--name', 'a.b'], 'tcp has a port'],
    [['tcp', '22', '--port', '0'], 'is not a port'],
    [['http', '3000', '--name', 'demo'], 'is not a name'],
    [['share', join(folder, 'none')], 'is not a folder'],
    [['share', '.', '--config', 'x'], '--config is for up'],
    [['up', '--name', 'a.b'], '--name is not for up'],
    [['http', '3000', '--gateway', 'gw.example.org'], 'is not a gateway'],
    [['http', '3000', '--gateway', 'https://gw.example.org/console'], 'is not a gateway'],
    [['up', '--config', join(folder, 'missing.yaml')], 'there is no such file'],
    [['http', '3000', '--nmae', 'x'], '--nmae is not an option'],
  ])('%j', (args, problem) => {
    expect(problems(args)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    ['publish: []', 'publish is not a list'],
    ['publish: [{ftp: 21}]', 'publish[0] is none of'],
    ['publish: [{tcp: 1, http: 2}]', 'publish[0] is none of'],
    ['publish: [{tcp: 1}, {tcp: x}]', 'publish[1]: "x" is not a target'],
    ['publish: [{tcp: 1, host: x}]', '"publish[0].host" is not known'],
    ['publish: [{tcp: 1}]\nserver: x', '"server" is not known'],
  ])('in a file: %s', (text, problem) => {
    const file = join(folder, 'wrong.yaml');
    writeFileSync(file, text);
    expect(problems(['up', '--config', file])).toEqual([expect.stringContaining(problem)]);
  });
});
