import { describe, expect, it } from 'vitest';
import { FormatError } from '../errors.js';
import { formatLink, parseLink } from './registry.js';

const b64url = (text: string) => Buffer.from(text).toString('base64url');
const UUID = 'b831381d-6324-4d53-ad4f-8cda48b30811';

describe('links of types that are stored and exported', () => {
  it.each([
    [
      'ssr',
      `ssr://${b64url(`192.0.2.1:8443:auth_aes128_md5_compatible:AES-256-cfb:http_simple:${b64url('p:a/ss')}/?obfsparam=${b64url('bing.com')}&protoparam=${b64url('1:x')}&remarks=${b64url('香港')}&group=${b64url('g')}`)}`,
      {
        type: 'ssr',
        name: '香港',
        server: '192.0.2.1',
        port: 8443,
        options: {
          cipher: 'aes-256-cfb',
          password: 'p:a/ss',
          protocol: 'auth_aes128_md5',
          obfs: 'http_simple',
          'obfs-param': 'bing.com',
          'protocol-param': '1:x',
        },
      },
    ],
    [
      'ssr with an IPv6 address',
      `ssr://${b64url(`2001:db8::1:443:origin:none:plain:${b64url('p')}`)}`,
      {
        type: 'ssr',
        name: '[2001:db8::1]:443',
        server: '2001:db8::1',
        port: 443,
        options: { cipher: 'none', password: 'p', protocol: 'origin', obfs: 'plain' },
      },
    ],
    [
      'hysteria',
      'hysteria://h.example:443?protocol=udp&auth=secret&peer=s.example&insecure=1&upmbps=100&downmbps=200&alpn=h3&obfs=xplus&obfsParam=o#n',
      {
        type: 'hysteria',
        name: 'n',
        server: 'h.example',
        port: 443,
        options: {
          protocol: 'udp',
          'auth-str': 'secret',
          sni: 's.example',
          'skip-cert-verify': true,
          up: '100',
          down: '200',
          alpn: ['h3'],
          obfs: 'o',
        },
      },
    ],
    [
      'tuic version 5',
      `tuic://${UUID}:p%40ss@h.example:443?sni=s.example&alpn=h3&congestion_control=bbr&udp_relay_mode=native&allow_insecure=1#n`,
      {
        type: 'tuic',
        name: 'n',
        server: 'h.example',
        port: 443,
        options: {
          uuid: UUID,
          password: 'p@ss',
          sni: 's.example',
          alpn: ['h3'],
          'congestion-controller': 'bbr',
          'udp-relay-mode': 'native',
          'skip-cert-verify': true,
        },
      },
    ],
    [
      'tuic version 4',
      'tuic://token@h.example:443#n',
      { type: 'tuic', name: 'n', server: 'h.example', port: 443, options: { token: 'token' } },
    ],
    [
      'anytls',
      'anytls://p%40ss@[2001:db8::1]:8443?sni=s.example&insecure=1#n',
      {
        type: 'anytls',
        name: 'n',
        server: '2001:db8::1',
        port: 8443,
        options: { password: 'p@ss', sni: 's.example', 'skip-cert-verify': true },
      },
    ],
    [
      'wireguard',
      'wg://eCtXsJZ27%2B4PbhDkHnB923tkUn2Gj59wZw5wFA75MnU%3D@h.example:2408?publickey=Cr8hWlKvtDt7nrvf+f0brNQQzabAqrjfBvas9pmowjo=&address=172.16.0.2/32,2606:4700::2/128&reserved=0WI7&mtu=1280#n',
      {
        type: 'wireguard',
        name: 'n',
        server: 'h.example',
        port: 2408,
        options: {
          'private-key': 'eCtXsJZ27+4PbhDkHnB923tkUn2Gj59wZw5wFA75MnU=',
          'public-key': 'Cr8hWlKvtDt7nrvf+f0brNQQzabAqrjfBvas9pmowjo=',
          ip: '172.16.0.2',
          ipv6: '2606:4700::2',
          reserved: [209, 98, 59],
          mtu: 1280,
        },
      },
    ],
    [
      'mierus',
      'mierus://user:p%3Aw@h.example?profile=n&port=9998-9999&protocol=UDP&multiplexing=MULTIPLEXING_HIGH',
      {
        type: 'mieru',
        name: 'n',
        server: 'h.example',
        port: 9998,
        options: {
          username: 'user',
          password: 'p:w',
          'port-range': '9998-9999',
          transport: 'UDP',
          multiplexing: 'MULTIPLEXING_HIGH',
        },
      },
    ],
    [
      'juicity',
      `juicity://11111111-2222-4333-8444-555555555555:p%3Aw@h.example:443?congestion_control=bbr&sni=s.example&allow_insecure=1#n`,
      {
        type: 'juicity',
        name: 'n',
        server: 'h.example',
        port: 443,
        options: {
          uuid: '11111111-2222-4333-8444-555555555555',
          password: 'p:w',
          'congestion-controller': 'bbr',
          sni: 's.example',
          'skip-cert-verify': true,
        },
      },
    ],
    [
      'naive over QUIC',
      'naive+quic://user:p%40w@h.example?extra-headers=X-A%3A1#n',
      {
        type: 'naive',
        name: 'n',
        server: 'h.example',
        port: 443,
        options: { username: 'user', password: 'p@w', 'extra-headers': 'X-A:1', quic: true },
      },
    ],
  ])('%s', (_name, link, node) => {
    expect(parseLink(link)).toEqual(node);
    expect(parseLink(formatLink(parseLink(link)))).toEqual(node);
  });

  it('a hysteria2 password is decoded and its ports are kept', () => {
    expect(
      parseLink('hy2://us%3Aer:p%40ss@h.example:443/?mport=5000-6000&insecure=0&obfs=salamander&obfs-password=o%23#n'),
    ).toEqual({
      type: 'hysteria2',
      name: 'n',
      server: 'h.example',
      port: 443,
      options: { password: 'us:er:p@ss', ports: '5000-6000', obfs: 'salamander', 'obfs-password': 'o#' },
    });
    expect(parseLink('hysteria2://p@h.example:443,5000-6000?pinSHA256=AA:'.concat('bb'.repeat(31)))).toMatchObject({
      port: 443,
      options: { ports: '443,5000-6000', fingerprint: `aa${'bb'.repeat(31)}` },
    });
  });

  it.each([
    ['hysteria2://h.example:443', 'missing_field', 'password'],
    ['tuic://@h.example:443', 'missing_field', 'uuid or token'],
    ['wireguard://h.example:443', 'missing_field', 'private-key'],
    ['mierus://u:p@h.example', 'missing_field', 'port'],
    ['anytls://p@h.example:443?clash=e30x', 'invalid_json', 'clash'],
    [`ssr://${b64url('h:443:origin')}`, 'invalid_link', undefined],
    [`ssr://${b64url(`h:443:origin::plain:${b64url('p')}`)}`, 'missing_field', 'cipher'],
  ])('%s is refused as %s', (link, code, field) => {
    let caught: unknown;
    try {
      parseLink(link);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(FormatError);
    expect(caught).toMatchObject({ code, field });
  });

  it('types without a link are reported as such', () => {
    const ssh = { type: 'ssh' as const, name: 'n', server: 'h.example', port: 22, options: { username: 'u' } };
    expect(() => formatLink(ssh)).toThrow(expect.objectContaining({ code: 'no_link_form' }));
  });
});
