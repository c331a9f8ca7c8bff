/** A real program that interop tests and benchmarks run against, and the Debian packages that hold it. */
export interface Peer {
  program: string;
  packages: string[];
  /** Where the packages put it, if not in a folder for programs or under another name. */
  file?: string;
  /** Companions from the same package: brought along, not checked one by one. */
  companions: string[];
}

export const PEERS: readonly Peer[] = [
  { program: 'ss-server', packages: ['shadowsocks-libev'], companions: ['ss-local', 'ss-tunnel'] },
  { program: 'microsocks', packages: ['microsocks'], companions: [] },
  { program: 'nginx', packages: ['nginx'], companions: [] },
  { program: 'redis-server', packages: ['redis-server', 'redis-tools'], companions: ['redis-cli'] },
  { program: 'pgbouncer', packages: ['pgbouncer'], companions: [] },
  { program: 'v2ray', packages: ['v2ray'], companions: [] },
  { program: 'trojan', packages: ['trojan'], companions: [] },
  { program: 'obfs-server', packages: ['simple-obfs'], companions: ['obfs-local'] },
  { program: 'ss-v2ray-plugin', packages: ['shadowsocks-v2ray-plugin'], companions: [] },
  { program: 'sshd', packages: ['openssh-server'], companions: [] },
  { program: 'iperf3', packages: ['iperf3'], companions: [] },
  { program: 'wrk', packages: ['wrk'], companions: [] },
  { program: 'h2load', packages: ['nghttp2-client'], companions: [] },
  { program: 'haproxy', packages: ['haproxy'], companions: [] },
  { program: 'caddy', packages: ['caddy'], companions: [] },
  { program: 'pebble', packages: ['pebble'], companions: ['pebble-challtestsrv'] },
  // BIND: a name server that takes signed updates.
  { program: 'named', packages: ['bind9'], companions: [] },
  { program: 'slowhttptest', packages: ['slowhttptest'], companions: [] },
  // What it reads lies in etc/testssl of the tree: TESTSSL_INSTALL_DIR says so.
  { program: 'testssl', packages: ['testssl.sh'], companions: [] },
  {
    program: 'chromium',
    // Its data has to lie beside it, even where the system has that package. Few systems have a font for Chinese.
    packages: ['chromium-headless-shell', 'chromium-common', 'fonts-wqy-microhei'],
    file: 'usr/lib/chromium/chromium-headless-shell',
    companions: [],
  },
  { program: 'promtool', packages: ['prometheus'], companions: ['prometheus'] },
  { program: 'curl', packages: ['curl'], companions: [] },
];
