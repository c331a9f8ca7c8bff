import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgentSecret, formatAgentKey } from '@gatehouse/tunnel-kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from './command-line.js';
import { agentWords } from '../messages/index.js';
import { readSettings, type AgentSettings } from './settings.js';

const key = formatAgentKey({ secret: createAgentSecret(), fingerprint: Buffer.alloc(32, 7).toString('base64url') });
const other = formatAgentKey({ secret: createAgentSecret(), fingerprint: Buffer.alloc(32, 7).toString('base64url') });
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-agent-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function read(args: string[], environment: Record<string, string> = {}, isTerminal = true): AgentSettings {
  const command = readSettings(args, environment, isTerminal);
  if (!('run' in command)) throw new Error('nothing to run');
  return command.run;
}

function problems(args: string[], environment: Record<string, string> = {}): readonly string[] {
  try {
    readSettings(args, environment, true);
  } catch (error) {
    if (error instanceof UsageError) return error.problems();
    throw error;
  }
  return [];
}

describe('settings of the agent', () => {
  it('come from the command line, the environment and a file, in this order', () => {
    const config = file('a.yaml', `server: file.example\nkey: ${other}\nallow: ["127.0.0.1:80"]\ngrace_seconds: 5\n`);
    const environment = { GATEHOUSE_AGENT_CONFIG: config, GATEHOUSE_AGENT_KEY: key };
    const settings = read(['--server', '[2001:db8::1]:9000', '--allow', '*:22', '--allow', '*:23'], environment);
    expect(settings.server).toEqual({ host: '2001:db8::1', port: 9000 });
    expect(settings.key).toBe(key);
    expect(settings.graceMs).toBe(5000);
    expect(settings.allow.match({ host: 'a', port: 23 }, '192.0.2.1')).toBe(true);
    expect(settings.allow.match({ host: '127.0.0.1', port: 80 }, '127.0.0.1')).toBe(false);
    expect(read([], { GATEHOUSE_AGENT_CONFIG: config }).server).toEqual({ host: 'file.example', port: 8024 });
    expect(read([], { GATEHOUSE_AGENT_CONFIG: config }).key).toBe(other);
  });

  it('read the key from the file of the source with the highest priority', () => {
    const path = file('key', `${key}\n`);
    expect(read(['--server', 'a', '--key-file', path]).key).toBe(key);
    expect(read(['--server', 'a', '--key-file', path], { GATEHOUSE_AGENT_KEY: other }).key).toBe(key);
    expect(read(['--server', 'a', '--config', file('c.json', JSON.stringify({ key_file: path }))]).key).toBe(key);
  });

  it('allow direct paths for p2p visitors by default', () => {
    const args = ['--server', 'a', '--key', key];
    expect(read(args).p2p).toBe(true);
    expect(read([...args, '--no-p2p']).p2p).toBe(false);
    expect(read(args).requireEncryption).toBe(false);
    expect(read([...args, '--require-encryption']).requireEncryption).toBe(true);
    expect(read(args).replica).toBe(false);
    expect(read([...args, '--replica']).replica).toBe(true);
    expect(read([...args, '--config', file('r.yaml', 'replica: true')]).replica).toBe(true);
    expect(read([...args, '--config', file('p.yaml', 'p2p: false')]).p2p).toBe(false);
    expect(problems([...args, '--config', file('q.yaml', 'p2p: 1')])).toMatchObject([expect.stringContaining('p2p')]);
  });

  it('say how the server is reached', () => {
    const args = ['--key', key, '--server'];
    expect(read([...args, 'gw.example'])).toMatchObject({ transport: 'auto', websocket: undefined });
    expect(read([...args, 'gw.example', '--transport', 'raw']).transport).toBe('raw');
    const websocket = { secure: true, host: 'gw.example', port: 443, path: '/__gw/agent' };
    expect(read([...args, 'wss://gw.example'])).toMatchObject({ transport: 'websocket', websocket });
    expect(problems([...args, 'gw.example', '--transport', 'pigeon'])[0]).toContain('pigeon');
    expect(problems([...args, 'wss://gw.example', '--transport', 'raw'])[0]).toContain('HOST:PORT');
  });

  it('print JSON if the output is not a terminal', () => {
    const args = ['--server', 'a', '--key', key];
    expect(read(args, {}, false).log).toBe('json');
    expect(read(args, {}, true).log).toBe('text');
    expect(read([...args, '--log', 'text'], {}, false).log).toBe('text');
  });

  it('report everything that is wrong at once, without the key', () => {
    const said = problems([
      '--server',
      'a:b:c',
      '--key',
      'gtk1.secret',
      '--allow',
      'x:0',
      '--allow-file-root',
      'here',
      '--grace-seconds=-1',
    ]);
    expect(said).toEqual([
      expect.stringContaining('"a:b:c" is not a server'),
      expect.stringContaining('the key cannot be read'),
      expect.stringContaining('"x:0"'),
      expect.stringContaining('absolute path'),
      expect.stringContaining('"-1"'),
    ]);
    expect(said.join()).not.toContain('gtk1.secret');
  });

  it.each([
    [['--server', 'a', '--key', key, '--alow', 'x'], '--alow is not an option'],
    [['--server', 'a', '--key', key, 'extra'], '"extra" is not an option'],
    [['--server', 'a', '--key', key, '--log'], '--log needs a value'],
    [['--server', 'a', '--key', key, '--no-p2p=1'], '--no-p2p takes no value'],
    [['--key', key], 'no server'],
    [['--server', 'a'], 'no key'],
    [['--server', 'a', '--key-file', '/nowhere'], 'the key file /nowhere cannot be read: there is no such file'],
    [['--server', 'a', '--key', key, '--config', '/nowhere'], '/nowhere'],
  ])('%j: %s', (args, expected) => {
    expect(problems(args).join()).toContain(expected);
  });

  it('are explained in the language of the person at the terminal', () => {
    const explained = (args: string[]): string[] => {
      try {
        read(args);
      } catch (error) {
        if (error instanceof UsageError) return error.problems(agentWords('zh-CN'));
        throw error;
      }
      return [];
    };
    const config = file('zh.yaml', 'p2p: 1');
    expect(explained(['--allow', 'x:0', '--log', 'loud', '--key-file', '/nowhere', '--config', config])).toEqual([
      `${config}：p2p 不是 true 或 false`,
      '未指定服务器：--server HOST:PORT',
      '无法读取密钥文件 /nowhere：文件不存在',
      expect.stringContaining('“x:0”不是目标'),
      '“loud”不是日志格式：可选 text 或 json',
    ]);
    expect(explained(['--alow', 'x'])).toEqual(['没有选项 --alow']);
    expect(explained(['--key'])).toEqual(['--key 需要一个值']);
  });

  it.each([
    ['serverr: a', '"serverr" is not known'],
    ['allow: a', 'allow is not a list'],
    ['allow: [1]', 'allow is not a list'],
    ['grace_seconds: soon', 'grace_seconds is not a number'],
    ['- a', 'not a list of fields'],
    ['a: [', 'a.yaml'],
    ['a: &a [1]\nb: *a', 'a.yaml'],
  ])('of a file with %j: %s', (text, expected) => {
    const said = problems(['--server', 'a', '--key', key, '--config', file('a.yaml', text)]);
    expect(said).toEqual([expect.stringContaining(expected)]);
  });
});
