import { describe, expect, it } from 'vitest';
import { fingerprintNode } from '../fingerprint.js';
import { parseLink } from '../links/registry.js';
import { parseSubscription } from '../parse-subscription.js';
import { parseRawConfig } from '../raw-config.js';

const UUID = '11111111-2222-4333-8444-555555555555';
const KEY = 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0';

describe('lines of Loon', () => {
  it.each([
    [
      'a=Shadowsocks,h.example,1,aes-128-gcm,"p,w",obfs-name=tls,obfs-host=o.example,obfs-uri=/x,udp=true',
      `ss://${btoa('aes-128-gcm:p,w')}@h.example:1?plugin=obfs-local%3Bobfs%3Dtls%3Bobfs-host%3Do.example%3Bobfs-uri%3D%2Fx`,
    ],
    [
      'a = shadowsocks, h.example, 1, aes-128-gcm, "p", http, o.example',
      `ss://${btoa('aes-128-gcm:p')}@h.example:1?plugin=obfs-local%3Bobfs%3Dhttp%3Bobfs-host%3Do.example`,
    ],
    [
      `a=vmess,h.example,443,auto,"${UUID}",transport=ws,host=c.example,path=/w,over-tls=true,tls-name=s.example`,
      `vmess://${UUID}@h.example:443?type=ws&host=c.example&path=%2Fw&security=tls&sni=s.example`,
    ],
    [
      `a=VLESS,h.example,443,"${UUID}",transport=tcp,over-tls=true,sni=s.example,flow=xtls-rprx-vision,public-key=${KEY},short-id=08`,
      `vless://${UUID}@h.example:443?security=reality&sni=s.example&flow=xtls-rprx-vision&pbk=${KEY}&sid=08`,
    ],
    [
      'a=trojan,h.example,443,"p",transport=ws,host=c.example,path=/w,tls-name=s.example,skip-cert-verify=true,alpn="h2,http/1.1"',
      'trojan://p@h.example:443?type=ws&host=c.example&path=%2Fw&sni=s.example&allowInsecure=1&alpn=h2,http/1.1',
    ],
    [
      'a=hysteria2,h.example,443,"p",server-ports="1000, 2000-3000",tls-name=s.example,salamander-password=m',
      'hysteria2://p@h.example:443?mport=1000,2000-3000&sni=s.example&obfs=salamander&obfs-password=m',
    ],
    ['a=anytls,h.example,443,"p",tls-name=s.example', 'anytls://p@h.example:443?sni=s.example'],
    ['a=https,h.example,443,u,"p",tls-name=s.example', 'https://u:p@h.example:443?sni=s.example'],
    ['a=socks5,h.example,1,u,"p",over-tls=true,tls-name=s.example', 'socks5://u:p@h.example:1?tls=1&sni=s.example'],
  ])('%s is the node of the link', (line, link) => {
    expect(fingerprintNode(parseRawConfig('', line))).toBe(fingerprintNode(parseLink(link)));
  });

  it('a ShadowsocksR line keeps protocol and obfuscation', () => {
    const line =
      'a=shadowsocksr,h.example,1,aes-256-cfb,"p",protocol=auth_chain_b,protocol-param=d,obfs=tls1.2_ticket_auth,obfs-param=c.example';
    expect(parseRawConfig('', line)).toMatchObject({
      type: 'ssr',
      options: { cipher: 'aes-256-cfb', password: 'p', protocol: 'auth_chain_b', 'obfs-param': 'c.example' },
    });
  });

  it('a pinned public key that would be the only check makes a line unreadable, not unprotected', () => {
    const pinned = 'a=https,h.example,443,u,"p",tls-pubkey-sha256=AAAA';
    expect(parseSubscription(`${pinned}\n`).nodes).toHaveLength(1);
    expect(parseSubscription(`${pinned},skip-cert-verify=true\n`)).toMatchObject({
      nodes: [],
      skipped: [{ name: 'a', reason: 'unsupported_option' }],
    });
  });

  it('an unknown transport is refused and never taken for TCP', () => {
    const line = `a=vless,h.example,443,"${UUID}",transport=xhttp,over-tls=true`;
    expect(parseSubscription(`${line}\n`).skipped).toMatchObject([{ reason: 'unsupported_transport' }]);
  });
});

describe('quotes', () => {
  it('a quoted list of protocols is a list', () => {
    const { nodes } = parseSubscription('a = trojan, h.example, 443, password=p, alpn="http/1.1,h2,h3"\n');
    expect(nodes[0]?.node).toMatchObject({ tls: { alpn: ['http/1.1', 'h2', 'h3'] } });
  });

  it('a value in quotes may contain quotes and commas', () => {
    const line =
      'a = http, h.example, 80, u, "p"q", headers="X-A: "1, 2"; still one;User-Agent: b", skip-cert-verify=true';
    expect(parseRawConfig('', line)).toMatchObject({
      username: 'u',
      password: 'p"q',
      headers: { 'X-A': '"1, 2"; still one', 'User-Agent': 'b' },
    });
  });

  it('headers in quotes do not hide the options behind them', () => {
    const line = `a = vmess, h.example, 443, username=${UUID}, ws=true, ws-headers="Host:"c.example"|X-A:b|c", tls=true`;
    expect(parseRawConfig('', line)).toMatchObject({
      tls: { sni: 'c.example' },
      transport: { type: 'ws', headers: { Host: 'c.example', 'X-A': 'b|c' } },
    });
  });

  it('a quote that is never closed hides nothing', () => {
    expect(parseRawConfig('', 'a = trojan, h.example, 443, password="p, sni=s.example')).toMatchObject({
      password: '"p',
      tls: { sni: 's.example' },
    });
  });
});
