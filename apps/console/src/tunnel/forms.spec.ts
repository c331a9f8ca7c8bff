import type {
  AuthPolicyView,
  EventView,
  HostView,
  TunnelClientView,
  TunnelModeName,
  TunnelUserView,
  TunnelView,
} from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { changesOf as clientChanges, formOf as clientForm, toBody as clientBody } from './clients/client-form.js';
import { stateOf as clientState } from './clients/client-state.js';
import { EVENT_TYPES, mergeEvents, toneOf } from './events/event-names.js';
import { addressOf as hostAddress } from './hosts/host-address.js';
import { changesOf as hostChanges, formOf as hostForm, fromLines, toLines } from './hosts/host-form.js';
import {
  formOf as policyForm,
  toBody as policyBody,
  toChanges as policyChanges,
  usersOf,
} from './policies/policy-form.js';
import { checkQuery } from './rules/check-form.js';
import { formOf as ruleForm, kindOf, toBody as ruleBody } from './rules/rule-form.js';
import { describeBrowser } from './sessions/describe-browser.js';
import { parseArchive } from './transfer/read-files.js';
import { addressOf } from './tunnels/tunnel-address.js';
import { changesOf as tunnelChanges, formOf as tunnelForm, toBody as tunnelBody } from './tunnels/tunnel-form.js';
import { MODE_NAMES } from './tunnels/tunnel-modes.js';
import { nameOf } from './tunnels/tunnel-name.js';
import { stateOf as tunnelState } from './tunnels/tunnel-state.js';
import { changesOf as userChanges, formOf as userForm } from './users/user-form.js';

const CLIENT = {
  id: 3,
  name: 'home',
  owner_user_id: 1,
  rate_limit: 512,
  max_conn: 0,
  expire_at: '2026-05-01T10:30:00.000Z',
  encrypt: true,
  status: 1,
  expired: false,
  online: true,
} as TunnelClientView;

const TUNNEL = {
  id: 7,
  client_id: 3,
  name: null,
  mode: 'tcp',
  listen_ip: '0.0.0.0',
  listen_port: 2022,
  port_count: 1,
  target_addr: '127.0.0.1:22',
  status: 1,
  run_status: 1,
  error: null,
  proxy_protocol: 0,
  accept_proxy_protocol: false,
  rate_limit: 0,
} as TunnelView;

const HOST = {
  id: 9,
  client_id: 3,
  host: 'app.example.org',
  location: '/',
  scheme: 'all',
  target_addr: 'http://127.0.0.1:3000',
  has_cert: false,
  auto_https: 0,
  strict_path: false,
  rewrite_path: null,
  sticky: false,
  compress: false,
  max_body_bytes: 0,
  error_page: null,
  health_check: null,
  redirect: null,
  rewrite_host: null,
  request_headers: { 'X-Team': 'a', Server: '' },
  response_headers: {},
} as unknown as HostView;

describe('a client', () => {
  it('comes back from its form as it was, and only what was changed is sent', () => {
    const form = clientForm(CLIENT);
    expect(clientChanges(CLIENT, form)).toEqual({});
    expect(clientChanges(CLIENT, { ...form, max_conn: '10', expire_at: '' })).toEqual({
      max_conn: 10,
      expire_at: null,
    });
    expect(clientBody(form)).toMatchObject({ expire_at: CLIENT.expire_at, rate_limit: 512, owner_user_id: 1 });
  });

  it('has its quota in GiB, which does not round the bytes of one that stays', () => {
    const limited: TunnelClientView = { ...CLIENT, traffic_quota: 1_500_000_001, quota_period: 'day' };
    const form = clientForm(limited);
    expect(form).toMatchObject({ traffic_quota: '1.397', quota_period: 'day' });
    expect(clientChanges(limited, form)).toEqual({});
    expect(clientChanges(limited, { ...form, traffic_quota: '2.5', quota_period: 'month' })).toEqual({
      traffic_quota: 2.5 * 1024 ** 3,
      quota_period: 'month',
    });
    expect(clientChanges(limited, { ...form, period_traffic: true })).toEqual({ period_traffic: 0 });
    expect(clientChanges(limited, { ...form, traffic_quota: ' ' })).toEqual({ traffic_quota: 0 });
    expect(clientChanges(limited, { ...form, traffic_quota: 'much' })).toEqual({ traffic_quota: 'much' });
  });

  it('leaves it to the service to say what is no number', () => {
    expect(clientBody({ ...clientForm(null), name: 'a', rate_limit: 'fast', max_conn: '' })).toMatchObject({
      rate_limit: 'fast',
      max_conn: 0,
    });
    expect(clientBody(clientForm(null))).not.toHaveProperty('owner_user_id');
  });

  it('is what it is, in a word', () => {
    const words = (changes: Partial<TunnelClientView>): string => clientState({ ...CLIENT, ...changes }).text;
    expect([
      words({}),
      words({ online: false }),
      words({ online: null }),
      words({ expired: true }),
      words({ status: 0 }),
    ]).toEqual(['online', 'offline', 'unknown', 'expired', 'disabled']);
  });
});

describe('a tunnel', () => {
  it('says what its mode has and nothing else', () => {
    const bodyOf = (mode: TunnelModeName): Record<string, unknown> =>
      tunnelBody({ ...tunnelForm(null, '3'), mode, target_addr: 'x', listen_port: '81' });
    expect(bodyOf('tcp')).toEqual({
      client_id: 3,
      name: null,
      mode: 'tcp',
      target_addr: 'x',
      rate_limit: 0,
      traffic_quota: 0,
      listen_ip: '0.0.0.0',
      listen_port: 81,
      port_count: 1,
      accept_proxy_protocol: false,
      proxy_protocol: 0,
    });
    for (const mode of ['secret', 'p2p'] as const) {
      expect(bodyOf(mode), mode).not.toHaveProperty('listen_port');
      expect(bodyOf(mode), mode).not.toHaveProperty('accept_proxy_protocol');
    }
    for (const mode of ['socks5', 'http_proxy', 'mix_proxy', 'file'] as const) {
      expect(bodyOf(mode), mode).not.toHaveProperty('proxy_protocol');
    }
  });

  it('takes a range of ports, and shows it', () => {
    const ports = (listen_port: string, target_addr = 'x'): unknown => {
      const { listen_port: first, port_count: count } = tunnelBody({ ...tunnelForm(null), listen_port, target_addr });
      return [first, count];
    };
    expect(ports('6000-6010')).toEqual([6000, 11]);
    expect(ports(' 6000 – 6000 ')).toEqual([6000, 1]);
    expect(ports('', 'a:7000-7004#weight=2,b:1-5')).toEqual([0, 5]);
    expect(ports('', 'a-1:7000')).toEqual([0, 1]);
    // The service refuses these in its own words.
    expect(ports('6010-6000')).toEqual(['6010-6000', 1]);
    expect(ports('many')).toEqual(['many', 1]);
    const range = { ...TUNNEL, port_count: 11 };
    expect(tunnelForm(range).listen_port).toBe('2022-2032');
    expect(tunnelChanges(range, { ...tunnelForm(range), listen_port: '2022-2040' })).toEqual({ port_count: 19 });
    expect(tunnelChanges(range, { ...tunnelForm(range), mode: 'secret' })).toEqual({ mode: 'secret', port_count: 1 });
    expect(addressOf(range, 'gw.example.org')).toBe('gw.example.org:2022-2032');
    expect(nameOf(range)).toBe('tcp 2022-2032');
  });

  it('gets any port where none is said', () => {
    expect(tunnelBody(tunnelForm(null))).toMatchObject({ listen_port: 0 });
    expect(tunnelForm({ ...TUNNEL, listen_port: 0 }).listen_port).toBe('');
  });

  it('is changed in what was changed, and stays with its client', () => {
    const form = tunnelForm(TUNNEL);
    expect(tunnelChanges(TUNNEL, form)).toEqual({});
    expect(tunnelChanges(TUNNEL, { ...form, client_id: '4', name: 'ssh', proxy_protocol: '2' })).toEqual({
      name: 'ssh',
      proxy_protocol: 2,
    });
  });

  it('is reached where the gateway is, or at its own address', () => {
    expect(addressOf(TUNNEL, 'gw.example.org')).toBe('gw.example.org:2022');
    expect(addressOf({ ...TUNNEL, listen_ip: '192.0.2.1', mode: 'socks5' }, 'gw')).toBe('socks5://192.0.2.1:2022');
    expect(addressOf({ ...TUNNEL, listen_ip: '::' }, '[2001:db8::1]')).toBe('[2001:db8::1]:2022');
    expect(addressOf({ ...TUNNEL, listen_ip: '2001:db8::2' }, 'gw')).toBe('[2001:db8::2]:2022');
    expect(addressOf({ ...TUNNEL, mode: 'p2p' }, 'gw')).toBeNull();
  });

  it('has a name in every mode', () => {
    for (const mode of MODE_NAMES) expect(nameOf({ ...TUNNEL, mode }), mode).toMatch(/^\w+ (2022|tunnel 7)$/);
    expect(nameOf({ ...TUNNEL, name: 'ssh' })).toBe('ssh');
  });

  it('says why it failed, and what it waits for', () => {
    const state = (changes: Partial<TunnelView>) => tunnelState({ ...TUNNEL, ...changes });
    expect(state({ run_status: 3, error: 'in use' })).toMatchObject({ text: 'failed', title: 'in use' });
    expect(state({ run_status: 3, status: 0 }).text).toBe('failed');
    expect([state({}).text, state({ run_status: 2 }).text, state({ run_status: 0 }).text]).toEqual([
      'running',
      'waiting',
      'starting',
    ]);
    expect(state({ run_status: 1, status: 0 }).text).toBe('stopped');
  });
});

describe('a host', () => {
  it('comes back from its form as it was', () => {
    expect(hostChanges(HOST, hostForm(HOST))).toEqual({});
    for (const max_body_bytes of [1, 1_500, 10 * 1024 * 1024]) {
      const limited = {
        ...HOST,
        max_body_bytes,
        rewrite_path: '/v2',
        sticky: true,
        compress: true,
        error_page: '<p>x</p>\n',
      };
      expect(hostChanges(limited, hostForm(limited))).toEqual({});
    }
    const health_check = {
      type: 'http' as const,
      path: '/live?full=1',
      expected_status: '204',
      interval_seconds: 60,
      timeout_seconds: 30,
      healthy_threshold: 1,
      unhealthy_threshold: 5,
    };
    const redirect = { to: 'https://example.org/', status: 308 as const, keep_path: false };
    const moved = { ...HOST, redirect };
    expect(hostChanges(moved, hostForm(moved))).toEqual({});
    expect(hostChanges(moved, { ...hostForm(moved), redirect: { ...hostForm(moved).redirect, to: ' ' } })).toEqual({
      redirect: null,
    });
    const checked = { ...HOST, health_check };
    expect(hostChanges(checked, hostForm(checked))).toEqual({});
    const often = { ...hostForm(checked).health_check, interval_seconds: 'often' };
    expect(hostChanges(checked, { ...hostForm(checked), health_check: often })).toEqual({
      health_check: { ...health_check, interval_seconds: 'often' },
    });
    const off = { ...hostForm(checked).health_check, type: '' as const };
    expect(hostChanges(checked, { ...hostForm(checked), health_check: off })).toEqual({ health_check: null });
    expect(hostChanges(HOST, { ...hostForm(HOST), max_body_bytes: '1.5', rewrite_path: ' / ' })).toEqual({
      max_body_bytes: 1_572_864,
      rewrite_path: '/',
    });
    expect(hostChanges(HOST, { ...hostForm(HOST), max_body_bytes: 'much' })).toEqual({ max_body_bytes: 'much' });
    expect(hostChanges(HOST, { ...hostForm(HOST), request_headers: 'X-Team: b', location: ' ' })).toEqual({
      request_headers: { 'X-Team': 'b' },
    });
  });

  it('has header fields a line each, values with colons too', () => {
    expect(toLines(HOST.request_headers)).toBe('X-Team: a\nServer:');
    expect(fromLines(' X-Time : 10:30 \n\nServer:\nno colon')).toEqual({
      'X-Time': '10:30',
      Server: '',
      'no colon': '',
    });
  });

  it('has an address with the port that visitors know', () => {
    const ports = { http_port: 8880, https_port: 443 };
    expect(hostAddress(HOST, ports)).toBe('http://app.example.org:8880/');
    expect(hostAddress({ ...HOST, auto_https: 1, location: '/a' }, ports)).toBe('https://app.example.org/a');
    expect(hostAddress({ ...HOST, scheme: 'http', has_cert: true }, ports)).toMatch(/^http:/);
    expect(hostAddress({ ...HOST, host: '*.example.org' }, ports)).toBeNull();
    expect(hostAddress(HOST, { http_port: null, https_port: null })).toBeNull();
  });
});

describe('a rule', () => {
  it.each([
    ['10.0.0.0/8', 'cidr'],
    ['2001:db8::/32', 'cidr'],
    ['10.1.*', 'wildcard'],
    ['*', 'any'],
    ['192.0.2.1-192.0.2.9', 'range'],
    ['!DE', 'country'],
    ['AS13335', 'asn'],
    ['!as64512', 'asn'],
    ['private', 'country'],
    ['192.0.2.1', 'exact'],
    ['2001:db8::1', 'exact'],
    ['?', null],
  ])('about %s is of kind %s', (pattern, kind) => {
    expect(kindOf(pattern)).toBe(kind);
  });

  it('is about a resource where its level has one', () => {
    const form = { ...ruleForm(null, true), pattern: '10.0.0.0/8' };
    expect(ruleBody(form)).toEqual({
      scope: 'global',
      type: 'deny',
      pattern: '10.0.0.0/8',
      pattern_kind: 'cidr',
      paths: null,
      methods: null,
      priority: 0,
      remark: null,
    });
    expect(ruleBody({ ...form, scope: 'host', resource_id: '9', remark: 'why' })).toMatchObject({
      resource_id: 9,
      remark: 'why',
    });
    expect(ruleForm(null, false).scope).toBe('client');
  });

  it('is about requests where hosts are', () => {
    const form = { ...ruleForm(null, true), pattern: '*', paths: ' /admin \n\n/api/*', methods: 'GET, post' };
    expect(ruleBody(form)).toMatchObject({ paths: ['/admin', '/api/*'], methods: ['GET', 'post'] });
    expect(ruleBody({ ...form, scope: 'tunnel', resource_id: '7' })).toMatchObject({ paths: null, methods: null });
  });

  it('is checked for a place', () => {
    const request = { path: '/admin', method: ' POST ' };
    expect(checkQuery({ ip: ' 192.0.2.1 ', place: 'tunnel', resource_id: '7', ...request })).toEqual({
      ip: '192.0.2.1',
      resource_type: 'tunnel',
      resource_id: '7',
    });
    expect(checkQuery({ ip: '::1', place: 'console', resource_id: '7', ...request })).not.toHaveProperty('resource_id');
    expect(checkQuery({ ip: '::1', place: 'host', resource_id: '7', ...request })).toMatchObject({
      path: '/admin',
      method: 'POST',
    });
  });
});

describe('a policy', () => {
  const oauth = {
    issuer: 'https://login.example.org',
    server: 'standard',
    client_id: 'gw',
    has_client_secret: true,
    scope: 'openid',
    authorization_endpoint: null,
    token_endpoint: 'https://login.example.org/token',
    userinfo_endpoint: null,
    introspection_endpoint: null,
    subjects: [],
    names: [],
    emails: ['ann@example.org'],
  };
  const policy = {
    resource_type: 'host',
    resource_id: 9,
    type: 'oauth',
    users: [],
    callback_url: null,
    copy_headers: [],
    allow_private: false,
    oauth,
    ttl_seconds: 60,
  } as unknown as AuthPolicyView;

  it('says what its type has', () => {
    const form = { ...policyForm(null), resource_id: '9', password: 'x', callback_url: 'https://a.example' };
    const common = { resource_type: 'host', resource_id: 9, ttl_seconds: 7_200 };
    expect(policyBody(form)).toEqual({ ...common, type: 'password', password: 'x' });
    expect(policyBody({ ...form, type: 'callback', copy_headers: 'X-A, X-B', allow_private: true })).toEqual({
      ...common,
      type: 'callback',
      callback_url: 'https://a.example',
      copy_headers: ['X-A', 'X-B'],
      allow_private: true,
    });
    expect(policyBody({ ...form, type: 'basic', users: 'ann:a:b\n\nbob' })['users']).toEqual([
      { username: 'ann', password: 'a:b' },
      { username: 'bob', password: '' },
    ]);
    expect(usersOf('')).toEqual([]);
  });

  it('keeps secrets that were not typed again, and what the form does not show', () => {
    const form = policyForm(policy);
    expect(policyChanges(form, policy)).toEqual({
      ttl_seconds: 60,
      oauth: {
        issuer: oauth.issuer,
        server: 'standard',
        client_id: 'gw',
        scope: 'openid',
        token_endpoint: oauth.token_endpoint,
        subjects: [],
        names: [],
        emails: ['ann@example.org'],
      },
    });
    const changed = policyChanges({ ...form, client_secret: 's', scope: '' }, policy)['oauth'];
    expect(changed).toMatchObject({ client_secret: 's' });
    expect(changed).not.toHaveProperty('scope');
    const basic = { ...policy, type: 'basic', oauth: null } as AuthPolicyView;
    expect(policyChanges(policyForm(basic), basic)).toEqual({ ttl_seconds: 60 });
  });
});

describe('a user', () => {
  it('is changed in what was changed', () => {
    const user = { username: 'ann', role: 'user' } as TunnelUserView;
    expect(userChanges(user, userForm(user))).toEqual({});
    const form = { ...userForm(user), username: ' ann ', password: 'p', reset_totp: true };
    expect(userChanges(user, { ...form, role: 'viewer', traffic_quota: '1' })).toEqual({
      role: 'viewer',
      traffic_quota: 1024 ** 3,
      quota_period: 'month',
      password: 'p',
      reset_totp: true,
    });
  });
});

describe('events', () => {
  const event = (id: number): EventView => ({ id, message: `${id}` }) as EventView;

  it('are each there once, the newest first, however they come', () => {
    const merged = mergeEvents([event(3), event(1)], [event(2), event(3), event(4)]);
    expect(merged.map(({ id }) => id)).toEqual([4, 3, 2, 1]);
    const many = Array.from({ length: 900 }, (_, index) => event(index));
    expect(mergeEvents([], many)).toHaveLength(500);
  });

  it('have a colour, those of a later service too', () => {
    expect(EVENT_TYPES).toContain('tunnel.failed');
    expect([toneOf('tunnel.failed'), toneOf('what.ever'), toneOf('constructor')]).toEqual(['bad', 'none', 'none']);
  });
});

describe('programs of sessions', () => {
  it.each([
    [null, 'unknown program'],
    ['curl/8.5.0', 'curl'],
    ['my-tool/1', 'my-tool/1'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36 Edg/130.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/17.0 Safari/604.1',
      'Safari on iPhone',
    ],
  ])('%s', (software, words) => {
    expect(describeBrowser(software)).toBe(words);
  });
});

describe('an export', () => {
  it('is a JSON object', () => {
    expect(parseArchive('{"version":1}')).toEqual({ version: 1 });
    for (const text of ['', '[1]', 'null', '{']) expect(() => parseArchive(text)).toThrow('no export');
  });
});
