import type { OtherNode } from '@gatehouse/contracts';
import { given } from '../stream/transport.js';
import { Unsayable } from './target.js';

type Options = Record<string, unknown>;

/** Options of the types that are kept as their Clash entries, as sing-box has them. @throws Unsayable */
export function writeStoredSingBox(node: OtherNode): Options {
  const options = new Stored(node.options);
  const network = node.udp === false ? { network: 'tcp' } : {};
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- sing-box has no other types
  switch (node.type) {
    case 'hysteria':
      return { type: 'hysteria', ...hysteria(options), ...network, tls: tls(options) };
    case 'hysteria2':
      return { type: 'hysteria2', ...hysteria2(options), ...network, tls: tls(options) };
    case 'tuic':
      return { type: 'tuic', ...tuic(options), ...network, tls: tls(options) };
    case 'anytls':
      return { type: 'anytls', ...anytls(options), tls: tls(options, true) };
    case 'ssh':
      return { type: 'ssh', ...ssh(options) };
    case 'wireguard':
      return { type: 'wireguard', ...wireguard(options, node) };
    default:
      throw new Unsayable(node.type, 'node_type');
  }
}

/** Typed access to stored options. What is never taken is found by reading the written entry back. */
class Stored {
  readonly #values: Options;

  constructor(values: Options) {
    this.#values = values;
  }

  text(key: string): string | undefined {
    const value = this.#values[key];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  }

  raw(key: string): unknown {
    return this.#values[key];
  }

  isOn(key: string): boolean {
    return this.#values[key] === true;
  }
}

function speed(options: Stored, key: 'up' | 'down', texts: boolean): Options {
  const text = options.text(key);
  const number = /^(\d+)(?:\s*mbps)?$/i.exec(text ?? '')?.[1];
  if (number !== undefined) return { [`${key}_mbps`]: Number(number) };
  return texts && text !== undefined ? { [key]: text } : {};
}

function hopping(options: Stored): Options {
  const ranges = options.text('ports')?.split(',');
  const interval = options.text('hop-interval');
  return {
    ...given(
      'server_ports',
      ranges?.map((range) => (range.includes('-') ? range.replace('-', ':') : `${range}:${range}`)),
    ),
    ...(/^\d+$/.test(interval ?? '') ? { hop_interval: `${interval}s` } : {}),
  };
}

function hysteria(options: Stored): Options {
  // sing-box does not start without both speeds.
  for (const key of ['up', 'down']) if (options.text(key) === undefined) throw new Unsayable(key);
  return {
    ...speed(options, 'up', true),
    ...speed(options, 'down', true),
    ...hopping(options),
    ...given('auth_str', options.text('auth-str')),
    ...given('obfs', options.text('obfs')),
  };
}

function hysteria2(options: Stored): Options {
  const obfs = options.text('obfs');
  if (obfs !== undefined && obfs !== 'salamander') throw new Unsayable('obfs');
  // sing-box does not start without it.
  if (obfs !== undefined && options.text('obfs-password') === undefined) throw new Unsayable('obfs-password');
  return {
    password: options.text('password'),
    ...speed(options, 'up', false),
    ...speed(options, 'down', false),
    ...hopping(options),
    ...(obfs === undefined ? {} : { obfs: { type: obfs, password: options.text('obfs-password') } }),
  };
}

function tuic(options: Stored): Options {
  if (options.text('uuid') === undefined) throw new Unsayable('token');
  return {
    uuid: options.text('uuid'),
    ...given('password', options.text('password')),
    ...given('congestion_control', options.text('congestion-controller')),
    ...given('udp_relay_mode', options.text('udp-relay-mode')),
    ...(options.isOn('reduce-rtt') ? { zero_rtt_handshake: true } : {}),
  };
}

function anytls(options: Stored): Options {
  const seconds = (key: string): string | undefined => {
    const value = options.text(key);
    return value === undefined ? undefined : `${value}s`;
  };
  return {
    password: options.text('password'),
    ...given('idle_session_check_interval', seconds('idle-session-check-interval')),
    ...given('idle_session_timeout', seconds('idle-session-timeout')),
    ...given('min_idle_session', options.raw('min-idle-session')),
  };
}

function ssh(options: Stored): Options {
  return {
    user: options.text('username'),
    ...given('password', options.text('password')),
    ...given('private_key', options.text('private-key')),
    ...given('private_key_passphrase', options.text('private-key-passphrase')),
    ...given('host_key', options.raw('host-key')),
  };
}

function wireguard(options: Stored, { server, port }: OtherNode): Options {
  if (options.raw('peers') !== undefined) throw new Unsayable('peers');
  const [ip, ipv6] = [options.text('ip'), options.text('ipv6')];
  if (ip === undefined && ipv6 === undefined) throw new Unsayable('ip');
  if (options.text('public-key') === undefined) throw new Unsayable('public-key');
  return {
    ...given('mtu', options.raw('mtu')),
    address: [...(ip === undefined ? [] : [`${ip}/32`]), ...(ipv6 === undefined ? [] : [`${ipv6}/128`])],
    private_key: options.text('private-key'),
    peers: [
      {
        address: server,
        port,
        public_key: options.text('public-key'),
        ...given('pre_shared_key', options.text('pre-shared-key')),
        allowed_ips: options.raw('allowed-ips') ?? ['0.0.0.0/0', '::/0'],
        ...given('persistent_keepalive_interval', options.raw('persistent-keepalive')),
        ...given('reserved', options.raw('reserved')),
      },
    ],
  };
}

function tls(options: Stored, imitates = false): Options {
  // A pinned certificate, a client certificate or ECH that is left out is found when the entry is read back.
  const hello = imitates ? options.text('client-fingerprint') : undefined;
  return {
    enabled: true,
    ...given('server_name', options.text('sni')),
    ...given('alpn', options.raw('alpn')),
    ...(options.isOn('skip-cert-verify') ? { insecure: true } : {}),
    ...(options.isOn('disable-sni') ? { disable_sni: true } : {}),
    ...(hello === undefined ? {} : { utls: { enabled: true, fingerprint: hello } }),
  };
}
