import { describe, expect, it } from 'vitest';
import { FormatError } from './errors.js';
import { parseRawConfig } from './raw-config.js';

const NODE = { type: 'trojan', name: 'n', server: 'h.example', port: 443, password: '0123', tls: {} };

describe('raw configuration of a manual node', () => {
  it.each([
    ['share link', 'trojan://0123@h.example:443#n'],
    ['JSON entry', '{"name":"n","type":"trojan","server":"h.example","port":443,"password":"0123"}'],
    ['YAML block', 'name: n\ntype: trojan\nserver: h.example\nport: 443\npassword: 0123\n'],
    ['YAML list item', '- name: n\n  type: trojan\n  server: h.example\n  port: 443\n  password: 0123\n'],
    ['YAML flow', '{name: n, type: trojan, server: h.example, port: 443, password: 0123}'],
    ['YAML item in flow style', '- {name: n, type: trojan, server: h.example, port: 443, password: 0123}'],
    ['with proxies around it', 'proxies:\n  - {name: n, type: trojan, server: h.example, port: 443, password: 0123}'],
    ['type from the form', '{"name":"n","server":"h.example","port":443,"password":"0123"}'],
    ['sing-box outbound', '{"type":"trojan","tag":"n","server":"h.example","server_port":443,"password":"0123"}'],
  ])('%s', (_name, raw) => {
    expect(parseRawConfig('trojan', raw)).toEqual(NODE);
  });

  it('an empty type accepts any type, and aliases are known', () => {
    expect(parseRawConfig('', 'trojan://0123@h.example:443#n')).toEqual(NODE);
    expect(parseRawConfig('SOCKS', '192.0.2.1:1080:u:p')).toEqual({
      type: 'socks5',
      name: '192.0.2.1:1080',
      server: '192.0.2.1',
      port: 1080,
      username: 'u',
      password: 'p',
    });
    expect(parseRawConfig('http', '192.0.2.1:1080')).toMatchObject({ type: 'http', port: 1080 });
  });

  it.each([
    ['trojan', '', 'missing_field', 'raw_config'],
    ['vmess', 'trojan://p@h.example:443', 'type_mismatch', 'type'],
    ['trojan', '{"server":"h.example","port":443}', 'missing_field', 'password'],
    ['trojan', '{"server":"h.example","port":"443x","password":"p"}', 'invalid_port', 'port'],
    ['trojan', '{"server":"h.example","port":443,"password":{"a":1}}', 'invalid_field', 'password'],
    [
      'vless',
      '{"server":"h.example","port":443,"uuid":"b831381d-6324-4d53-ad4f-8cda48b30811","ws-opts":[1],"network":"ws"}',
      'invalid_field',
      'ws-opts',
    ],
    [
      'vless',
      '{"server":"h.example","port":443,"uuid":"b831381d-6324-4d53-ad4f-8cda48b30811","network":"ws","ws-opts":{"max-early-data":"x"}}',
      'invalid_field',
      'ws-opts.max-early-data',
    ],
    ['ss', '{"server":"h.example","port":443,"cipher":"aes-128-gcm"}', 'missing_field', 'password'],
    ['', '{"server":"h.example","port":443}', 'missing_field', 'type'],
    ['trojan', 'just words', 'invalid_entry', undefined],
    ['trojan', '{a: [', 'invalid_yaml', undefined],
    ['trojan', 'trojan://p@h.example:443\ntrojan://p@i.example:443', 'invalid_link', undefined],
    ['trojan', '[{"type":"ss"},{"type":"ss"}]', 'invalid_entry', undefined],
    ['trojan', 'x'.repeat(70_000), 'entry_too_large', undefined],
  ])('type %j with %j is refused as %s', (type, raw, code, field) => {
    let caught: unknown;
    try {
      parseRawConfig(type, raw);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(FormatError);
    expect(caught).toMatchObject({ code, field });
  });
});
