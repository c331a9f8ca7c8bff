import type { HostRequestView } from '@gatehouse/contracts';
import { compareCatalogues } from '@gatehouse/i18n';
import { TunnelError, type AgentTunnel } from '@gatehouse/tunnel-kernel';
import { describe, expect, it } from 'vitest';
import { AGENT_CATALOGUES, agentWords } from './messages/index.js';
import { JsonReporter, TextReporter, type Reporter } from './reporter.js';
import { USAGE } from './usage.js';
import { CHINESE_USAGE } from './usage.zh-CN.js';

const at = new Date('2026-11-21T10:00:00Z');
const tunnel = (more: Partial<AgentTunnel>): AgentTunnel => ({
  id: 7,
  mode: 'tcp',
  entrance: '0.0.0.0:20001',
  targets: [{ host: '127.0.0.1', port: 80, weight: 1 }],
  proxyProtocol: 0,
  destinations: [],
  file: null,
  ...more,
});

function said(reporter: typeof TextReporter | typeof JsonReporter, speak: (reporter: Reporter) => void): string {
  let text = '';
  speak(new reporter({ write: (part) => (text += part) }, () => at));
  return text;
}

describe('the output on a Chinese terminal', () => {
  const chinese = (speak: (reporter: Reporter) => void): string => {
    let text = '';
    speak(new TextReporter({ write: (part) => (text += part) }, () => at, agentWords('zh-CN')));
    return text;
  };

  it('is in Chinese, with aligned columns', () => {
    const text = chinese((reporter) => {
      reporter.resources([tunnel({}), tunnel({ id: 10, mode: 'secret', entrance: '' })], []);
      reporter.status({ state: 'online', clientId: 3, via: 'raw' }, 'gw:8024');
      const reason = new TunnelError('disabled', 'the client is disabled or expired');
      reporter.status({ state: 'waiting', reason, retryMs: 1234 }, 'gw:8024');
    });
    expect(text).toContain(`
  模式    访问地址        对象     目标
  tcp     0.0.0.0:20001   隧道 7   127.0.0.1:80
  secret  （凭密钥访问）  隧道 10  127.0.0.1:80
`);
    expect(text).toContain('已连接 gw:8024，客户端 3');
    expect(text).toContain('已离线：客户端已停用或过期；1.2 秒后重试');
    expect(text).toContain('更改后会自动恢复连接');
  });

  it('has every text and every option of the English one', () => {
    expect(compareCatalogues(AGENT_CATALOGUES.en, 'zh-CN', AGENT_CATALOGUES['zh-CN'])).toEqual([]);
    const options = (usage: string): string[] => [...new Set(usage.match(/--[a-z0-9-]+|GATEHOUSE_\w+/g))].sort();
    expect(options(CHINESE_USAGE)).toEqual(options(USAGE));
  });
});

describe('a request of a visitor', () => {
  const request = {
    method: 'GET',
    path: '/a?token=***',
    host: 'a.test',
    status: 502,
    error: 'target_refused',
    failure: null,
    visitor_ip: '192.0.2.1',
    ended_ms: 4.26,
  } as HostRequestView;

  it('is a line with status, path, duration, visitor and what went wrong', () => {
    expect(said(TextReporter, (reporter) => reporter.request(request))).toMatch(
      / 502 GET \/a\?token=\*\*\* 4\.3 ms 192\.0\.2\.1 \(target_refused\)\n$/,
    );
    const left = { ...request, status: null, error: null, failure: 'client_error', ended_ms: 12.4 };
    expect(said(TextReporter, (reporter) => reporter.request(left))).toMatch(
      / --- GET .* 12 ms .* \(client_error\)\n$/,
    );
    expect(JSON.parse(said(JsonReporter, (reporter) => reporter.request(request)))).toMatchObject({
      message: 'request',
      method: 'GET',
      path: '/a?token=***',
      status: 502,
      reason: 'target_refused',
      ms: 4.26,
    });
  });
});

describe('the output on a terminal', () => {
  it('is a table of the exposed services, printed only when it changes', () => {
    const tunnels = [
      tunnel({}),
      tunnel({ id: 8, mode: 'socks5', entrance: '0.0.0.0:1080', targets: [], destinations: ['10.0.0.0/8'] }),
      tunnel({ id: 9, mode: 'file', targets: [], file: { path: '/srv', readOnly: true, stripPrefix: '' } }),
      tunnel({ id: 10, mode: 'secret', entrance: '' }),
    ];
    const hosts = [{ id: 3, name: 'a.example/api', targets: [{ host: 'web', port: 8080, weight: 1 }] }];
    const text = said(TextReporter, (reporter) => {
      reporter.resources(tunnels, hosts);
      reporter.resources(tunnels, hosts);
    });
    expect(text).toBe(`
  MODE    REACHED AT     IS         LEADS TO
  tcp     0.0.0.0:20001  tunnel 7   127.0.0.1:80
  socks5  0.0.0.0:1080   tunnel 8   10.0.0.0/8
  file    0.0.0.0:20001  tunnel 9   /srv (read only)
  secret  (by key)       tunnel 10  127.0.0.1:80
  host    a.example/api  host 3     web:8080

`);
  });

  it('reports what happens and what to do', () => {
    const reason = new TunnelError('disabled', 'the client is disabled or expired');
    const text = said(TextReporter, (reporter) => {
      reporter.status({ state: 'connecting' }, 'gw:8024');
      reporter.status({ state: 'online', clientId: 3, via: 'websocket' }, 'gw:8024');
      reporter.status({ state: 'waiting', reason, retryMs: 1234 }, 'gw:8024');
      reporter.warn('a target could not be reached', { tunnel: 7, reason: 'refused' });
    });
    expect(text).toContain('connecting to gw:8024');
    expect(text).toContain('online at gw:8024 over a WebSocket as client 3');
    expect(text).toContain('offline: the client is disabled or expired; next attempt in 1.2 s');
    expect(text).toContain('it goes on as soon as that is changed');
    expect(text).toContain('a target could not be reached tunnel=7 reason=refused');
  });
});

describe('the output for a log collector', () => {
  it('is one object per line', () => {
    const text = said(JsonReporter, (reporter) => {
      reporter.status({ state: 'online', clientId: 3, via: 'raw' }, 'gw:8024');
      reporter.resources([tunnel({})], []);
      const resource = { kind: 'tunnel' as const, id: 7 };
      reporter.carried([{ resource, clientId: 3, upload: 1, download: 2, connections: 1 }]);
    });
    const [online, configured, carried] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(online).toEqual({
      time: at.toISOString(),
      level: 'info',
      message: 'online',
      server: 'gw:8024',
      client: 3,
      via: 'raw',
    });
    expect(configured).toMatchObject({ tunnels: [{ id: 7, mode: 'tcp', entrance: '0.0.0.0:20001' }], hosts: [] });
    expect(carried).toMatchObject({ message: 'carried', tunnel: 7, upload: 1, download: 2, connections: 1 });
  });

  it('includes what to do', () => {
    const reason = new TunnelError('misdirected', 'another process serves it');
    const text = said(JsonReporter, (reporter) => {
      reporter.status({ state: 'waiting', reason, retryMs: 1000 }, 'gw:8024');
    });
    expect(JSON.parse(text)).toMatchObject({
      level: 'warn',
      message: 'waiting',
      code: 'misdirected',
      reason: 'another process serves it',
      advice: expect.stringContaining('TUNNEL_HTTP_PORT'),
      retry_ms: 1000,
    });
  });
});
