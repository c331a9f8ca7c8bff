import { TunnelError, type AgentTunnel, type FlowDelta } from '@gatehouse/tunnel-kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import { StatusRecorder } from './status-recorder.js';
import { agentWords } from '../messages/index.js';
import { statusText } from './status-text.js';

const tunnel = (more: Partial<AgentTunnel> = {}): AgentTunnel => ({
  id: 7,
  mode: 'tcp',
  entrance: '0.0.0.0:20001',
  targets: [{ host: '127.0.0.1', port: 80, weight: 1 }],
  proxyProtocol: 0,
  destinations: [],
  file: null,
  ...more,
});
const host = { id: 3, name: 'a.test/', targets: [{ host: '127.0.0.1', port: 81, weight: 1 }] };
let now: number;
let recorder: StatusRecorder;
beforeEach(() => {
  now = Date.parse('2026-11-21T10:00:00Z');
  recorder = new StatusRecorder({ version: '1.2.3', gateway: 'gw:8024', proxy: null, pid: 42, now: () => now });
});

function carry(id: number, upload: number, download: number): void {
  const delta: FlowDelta = { clientId: 1, resource: { kind: 'tunnel', id }, upload, download, connections: 1 };
  recorder.count({ takeDeltas: () => [delta] });
}

describe('the status of an agent', () => {
  it('knows since when it is online, and the last error after it is online again', () => {
    now += 1000;
    recorder.changed({ state: 'waiting', reason: new TunnelError('timeout', 'no welcome'), retryMs: 5 });
    expect(recorder.report(0)).toMatchObject({ state: 'waiting', since: '2026-11-21T10:00:01.000Z', client_id: null });
    now += 1000;
    recorder.changed({ state: 'online', clientId: 5, via: 'websocket' });
    now += 1000;
    recorder.changed({ state: 'online', clientId: 5, via: 'websocket' });
    expect(recorder.report(2)).toMatchObject({
      format: 1,
      state: 'online',
      since: '2026-11-21T10:00:02.000Z',
      started_at: '2026-11-21T10:00:00.000Z',
      via: 'websocket',
      client_id: 5,
      open_connections: 2,
      last_error: { at: '2026-11-21T10:00:01.000Z', code: 'timeout', message: 'no welcome' },
    });
  });

  it('counts what each tunnel carried, and gives the log each byte once', () => {
    recorder.configured([tunnel()], [host]);
    carry(7, 10, 20);
    carry(7, 1, 2);
    carry(9, 100, 0);
    expect(recorder.takeUnreported()).toMatchObject([
      { resource: { id: 7 }, upload: 11, download: 22, connections: 2 },
      { resource: { id: 9 }, upload: 100 },
    ]);
    expect(recorder.takeUnreported()).toEqual([]);
    carry(7, 5, 0);
    expect(recorder.takeUnreported()).toMatchObject([{ upload: 5, connections: 1 }]);
    const { resources, traffic } = recorder.report(0);
    expect(traffic).toEqual({ upload: 116, download: 22, connections: 4 });
    expect(resources).toMatchObject([
      { kind: 'tunnel', id: 7, mode: 'tcp', address: '0.0.0.0:20001', leads_to: '127.0.0.1:80', upload: 16 },
      { kind: 'host', id: 3, mode: 'host', address: 'a.test/', leads_to: '127.0.0.1:81', upload: 0 },
    ]);
    // What is not there any longer is in the sum only.
    recorder.configured([], [host]);
    recorder.configured([tunnel()], []);
    expect(recorder.report(0).resources).toMatchObject([{ id: 7, upload: 0 }]);
    expect(recorder.report(0).traffic.upload).toBe(116);
  });

  it('lists a thousand resources and counts the others', () => {
    const targets = Array.from({ length: 64 }, () => ({ host: 'a-long-name.example.org', port: 80, weight: 1 }));
    recorder.configured(
      Array.from({ length: 1002 }, (_, id) => tunnel({ id, targets })),
      [],
    );
    const report = recorder.report(0);
    expect([report.resources.length, report.omitted]).toEqual([1000, 2]);
    expect(JSON.stringify(report).length).toBeLessThan(1024 * 1024);
    expect(statusText([report], agentWords('en'))).toContain('2 more are not listed');
  });
});

describe('the status for people', () => {
  it('shows agent, traffic, tunnels and hosts in both languages', () => {
    recorder.configured([tunnel(), tunnel({ id: 8, mode: 'socks5', targets: [], entrance: '' })], [host]);
    recorder.changed({ state: 'waiting', reason: new TunnelError('timeout', 'no welcome'), retryMs: 5 });
    recorder.changed({ state: 'online', clientId: 5, via: 'raw' });
    carry(7, 1536, 3 * 1024 * 1024);
    const text = statusText([recorder.report(1)], agentWords('en'));
    expect(text).toMatch(/^gw:8024 {2}online over TCP as client 5 since 2026-11-21 \d\d:00:00$/m);
    expect(text).toContain('process 42, version 1.2.3');
    expect(text).toContain('1.5 KiB up, 3.0 MiB down, connections: 1 (1 open)');
    expect(text).toMatch(/tcp +0\.0\.0\.0:20001 +tunnel 7 +127\.0\.0\.1:80 +1\.5 KiB +3\.0 MiB +1$/m);
    expect(text).toMatch(/socks5 +\(by key\) +tunnel 8 +whatever visitors ask for +0 B +0 B +0$/m);
    expect(text).toMatch(/host +a\.test\/ +host 3 /m);
    expect(text).toMatch(/last error 2026-11-21 \d\d:00:00: no welcome/);
    const chinese = statusText([recorder.report(1)], agentWords('zh-CN'));
    expect(chinese).toContain('在线（TCP），客户端 5');
    expect(chinese).toContain('最近错误');
  });

  it('does not let what a gateway says move the cursor', () => {
    recorder.configured([tunnel({ entrance: 'a\u001b[2J\u009bx\u202e' })], []);
    recorder.changed({ state: 'waiting', reason: new TunnelError('connection', 'evil\r\n\u001b]0;x'), retryMs: 5 });
    const text = statusText([recorder.report(0)], agentWords('en'));
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
    expect(text).toContain('evil???]0;x');
  });
});
