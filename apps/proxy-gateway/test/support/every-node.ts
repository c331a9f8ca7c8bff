/** A Clash entry for every type of node, with addresses from documentation ranges. */
const UUID = '5f1b6ad1-0f2c-4c8e-9d3a-0f9a4a0f5e11';
const reality = { 'public-key': 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0', 'short-id': '6ba85179e30d4fc2' };

export const EVERY_NODE: readonly Record<string, unknown>[] = [
  { name: 'ss', type: 'ss', cipher: 'aes-128-gcm', password: 'p:w@d' },
  { name: 'ss obfs', type: 'ss', cipher: 'aes-256-gcm', password: 'p', plugin: 'obfs', 'plugin-opts': { mode: 'http', host: 'h.example' } },
  { name: 'ssr', type: 'ssr', cipher: 'aes-256-cfb', password: 'p', protocol: 'origin', obfs: 'plain' },
  { name: 'vmess', type: 'vmess', uuid: UUID, alterId: 0, cipher: 'auto', tls: true, servername: 's.example', network: 'ws', 'ws-opts': { path: '/w', headers: { Host: 'h.example' } } },
  { name: 'vless', type: 'vless', uuid: UUID, tls: true, servername: 's.example', flow: 'xtls-rprx-vision', 'reality-opts': reality, 'client-fingerprint': 'chrome' },
  { name: 'trojan', type: 'trojan', password: 'p', sni: 's.example', network: 'grpc', 'grpc-opts': { 'grpc-service-name': 'g' } },
  { name: 'hysteria', type: 'hysteria', 'auth-str': 'a', up: '10', down: '50', sni: 's.example' },
  { name: 'hysteria2', type: 'hysteria2', password: 'p', sni: 's.example', obfs: 'salamander', 'obfs-password': 'o' },
  { name: 'tuic', type: 'tuic', uuid: UUID, password: 'p', sni: 's.example' },
  { name: 'wireguard', type: 'wireguard', 'private-key': 'eCtXsJZ27+4PbhDkHnB923tkUn2Gj59wZw5wFA75MnU=', 'public-key': 'Cr8hWlKvtDt7nrvf+f0brNQQzabAqrjfBvas9pmowjo=', ip: '172.16.0.2' },
  { name: 'socks5', type: 'socks5', username: 'u', password: 'p' },
  { name: 'http', type: 'http', username: 'u', password: 'p:q', tls: true, sni: 's.example' },
  { name: 'anytls', type: 'anytls', password: 'p', sni: 's.example' },
  { name: 'snell', type: 'snell', psk: 'p', version: 3 },
  { name: 'ssh', type: 'ssh', username: 'u', password: 'p' },
  { name: 'mieru', type: 'mieru', username: 'u', password: 'p', transport: 'TCP' },
  { name: 'naive', type: 'naive', username: 'u', password: 'p' },
  { name: 'juicity', type: 'juicity', uuid: UUID, password: 'p', sni: 's.example' },
  { name: 'masque', type: 'masque', 'private-key': 'k', 'public-key': 'q', ip: '172.16.0.2' },
  { name: 'sudoku', type: 'sudoku', key: 'k', 'aead-method': 'chacha20-poly1305' },
  { name: 'trusttunnel', type: 'trusttunnel', username: 'u', password: 'p', sni: 's.example' },
  { name: 'tailscale', type: 'tailscale', hostname: 'h', 'auth-key': 'k' },
].map((entry, index) => ({ ...entry, server: `192.0.2.${index + 1}`, port: 1_000 + index })); // prettier-ignore

/** Types without share links. */
export const LINKLESS = ['snell', 'ssh', 'masque', 'sudoku', 'trusttunnel', 'tailscale'];
