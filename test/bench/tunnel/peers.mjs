// Other tunnels as subjects. Each is started for the same forwards: `{ name, entry, target, udp }`, ports of the loopback.
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findPeer, freePort, startProgram, untilItAccepts, untilItAnswers } from '../processes.mjs';

const NOBODY = 65_534;
const SECRET = 'benchmark';

/** Writes a configuration and answers its path. */
function write(folder, name, text, mode = 0o600) {
  const file = path.join(folder, name);
  writeFileSync(file, text, { mode });
  return file;
}

/** Starts the server, then the client, and answers both once every forwarded TCP port takes connections. */
async function startPair({ forwards, via }, port, server, clientFor) {
  const { child } = await startProgram(...server, port);
  const client = clientFor(await via(port));
  const [first, ...others] = forwards.filter(({ udp }) => !udp);
  const { child: far } = await startProgram(...client, first.entry);
  for (const { entry } of others) {
    if (!(await untilItAccepts(entry))) throw new Error(`${client[0]} did not open port ${entry}`);
  }
  return [child, far];
}

async function startFrp(surroundings, { mux, tls }) {
  const { forwards, folder } = surroundings;
  const port = await freePort();
  const common = `auth.token = "${SECRET}"\ntransport.tcpMux = ${mux}\nlog.level = "error"\n`;
  const server = write(
    folder,
    'frps.toml',
    `bindAddr = "127.0.0.1"\nbindPort = ${port}\nproxyBindAddr = "127.0.0.1"\n${common}`,
  );
  const proxies = forwards.map(
    ({ entry, target, udp }, index) =>
      `[[proxies]]\nname = "p${index}"\ntype = "${udp ? 'udp' : 'tcp'}"\nlocalIP = "127.0.0.1"\nlocalPort = ${target}\nremotePort = ${entry}\n`,
  );
  const client = (serverPort) =>
    write(
      folder,
      'frpc.toml',
      `serverAddr = "127.0.0.1"\nserverPort = ${serverPort}\ntransport.tls.enable = ${tls}\n${common}${proxies.join('')}`,
    );
  return startPair(surroundings, port, [findPeer('frps'), ['-c', server]], (serverPort) => [
    findPeer('frpc'),
    ['-c', client(serverPort)],
  ]);
}

async function startRathole(surroundings, { noise }) {
  const { forwards, folder } = surroundings;
  const port = await freePort();
  const program = findPeer('rathole');
  const keys = noise ? execFileSync(program, ['--genkey'], { encoding: 'utf8' }).match(/^[A-Za-z0-9+/=]{43,}$/gm) : [];
  const transport = (side, field, key) =>
    noise
      ? `[${side}.transport]\ntype = "noise"\n[${side}.transport.noise]\n${field} = "${key}"\n`
      : `[${side}.transport]\ntype = "tcp"\n`;
  const services = (side, field, of) =>
    forwards
      .map(
        (forward, index) =>
          `[${side}.services.s${index}]\ntype = "${forward.udp ? 'udp' : 'tcp'}"\n${field} = "127.0.0.1:${of(forward)}"\n`,
      )
      .join('');
  const server = write(
    folder,
    'server.toml',
    `[server]\nbind_addr = "127.0.0.1:${port}"\ndefault_token = "${SECRET}"\n` +
      transport('server', 'local_private_key', keys[0]) +
      services('server', 'bind_addr', ({ entry }) => entry),
  );
  const client = (serverPort) =>
    write(
      folder,
      'client.toml',
      `[client]\nremote_addr = "127.0.0.1:${serverPort}"\ndefault_token = "${SECRET}"\n` +
        transport('client', 'remote_public_key', keys[1]) +
        services('client', 'local_addr', ({ target }) => target),
    );
  return startPair(surroundings, port, [program, ['--server', server]], (serverPort) => [
    program,
    ['--client', client(serverPort)],
  ]);
}

async function startChisel(surroundings) {
  const port = await freePort();
  const program = findPeer('chisel');
  const remotes = surroundings.forwards.map(
    ({ entry, target, udp }) => `R:127.0.0.1:${entry}:127.0.0.1:${target}${udp ? '/udp' : ''}`,
  );
  const server = [program, ['server', '--reverse', '--host', '127.0.0.1', '--port', String(port)]];
  return startPair(surroundings, port, server, (serverPort) => [
    program,
    ['client', `http://127.0.0.1:${serverPort}`, ...remotes],
  ]);
}

/** As root, sshd wants an account of its own for its work before authentication: it is started as `nobody`. */
async function startSsh(surroundings) {
  const { forwards, folder } = surroundings;
  const port = await freePort();
  const root = process.getuid() === 0;
  const home = path.join(folder, 'ssh');
  mkdirSync(home, { mode: 0o700 });
  for (const name of ['host', 'user']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path.join(home, name)]);
  }
  const settings = [
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${home}/host`,
    `AuthorizedKeysFile ${home}/user.pub`,
    'PidFile none',
    'StrictModes no',
    'UsePAM yes',
    'AllowTcpForwarding yes',
  ];
  const config = write(home, 'sshd_config', `${settings.join('\n')}\n`, 0o644);
  if (root) for (const file of [folder, home, `${home}/host`, `${home}/user.pub`]) chownSync(file, NOBODY, NOBODY);
  const user = root ? 'nobody' : process.env.USER;
  const server = [findPeer('sshd'), ['-D', '-e', '-f', config], root ? { uid: NOBODY, gid: NOBODY } : {}];
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'BatchMode=yes'];
  const { child } = await startProgram(server[0], server[1], port, server[2]);
  const serverPort = await surroundings.via(port);
  const tunnels = forwards
    .filter(({ udp }) => !udp)
    .flatMap(({ entry, target }) => ['-R', `127.0.0.1:${entry}:127.0.0.1:${target}`]);
  const args = ['-N', '-i', `${home}/user`, '-p', String(serverPort), ...options.flatMap((option) => ['-o', option])];
  const { child: client } = await startProgram('ssh', [...args, ...tunnels, `${user}@127.0.0.1`], forwards[0].entry);
  return [child, client];
}

/**
 * Only the tunnel: no pages, no virtual hosts, no other transports, no clock or names from outside. The
 * tunnels are in its own files, as its console writes them: with those of a client's file, a UDP port takes the TCP port
 * of the same number away.
 */
function writeNps(conf, { port, tlsPort, forwards }) {
  mkdirSync(conf, { recursive: true });
  const settings = {
    run_mode: 'standalone',
    secure_mode: true,
    bridge_ip: '127.0.0.1',
    bridge_tcp_port: port,
    bridge_tls_port: tlsPort,
    kcp_enable: false,
    quic_enable: false,
    http_proxy_port: 0,
    https_proxy_port: 0,
    web_port: 0,
    log_level: 'error',
    log_path: 'off',
    dns_server: '127.0.0.1',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  write(conf, 'nps.conf', lines.join(''));
  const rows = (all) => `[\n${all.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`;
  const Flow = { ExportFlow: 0, InletFlow: 0, FlowLimit: 0 };
  const client = { Id: 1, VerifyKey: SECRET, Status: true, Flow, Cnf: { Compress: false, Crypt: false } };
  write(conf, 'clients.json', rows([client]));
  const tunnels = forwards.map(({ entry, target, udp }, index) => ({
    Id: index + 1,
    Port: entry,
    ServerIp: '127.0.0.1',
    Mode: udp ? 'udp' : 'tcp',
    Status: true,
    RunStatus: true,
    Client: { Id: 1 },
    Flow,
    Target: { TargetStr: `127.0.0.1:${target}` },
  }));
  write(conf, 'tasks.json', rows(tunnels));
}

async function startNps(surroundings, { tls }) {
  const { forwards, folder } = surroundings;
  const [port, tlsPort] = [await freePort(), await freePort()];
  const home = path.join(folder, 'nps');
  writeNps(path.join(home, 'conf'), { port, tlsPort, forwards });
  const server = [findPeer('nps'), [`--conf_path=${home}`]];
  const quiet = ['--disable_p2p', '--dns_server=127.0.0.1', '--log=off', '--debug=false'];
  const pair = await startPair(surroundings, tls ? tlsPort : port, server, (serverPort) => [
    findPeer('npc'),
    [`--server=127.0.0.1:${serverPort}`, `--vkey=${SECRET}`, `--type=${tls ? 'tls' : 'tcp'}`, ...quiet],
  ]);
  // Its ports are open before its client is there.
  const { entry } = forwards.find(({ name }) => name === 'http');
  if (!(await untilItAnswers(entry))) throw new Error('nps carried nothing within 5 s');
  return pair;
}

export const PEERS = [
  { name: 'frp, no mux, plain', needs: ['frps', 'frpc'], start: (on) => startFrp(on, { mux: false, tls: false }) },
  { name: 'frp, no mux, TLS', needs: ['frps', 'frpc'], start: (on) => startFrp(on, { mux: false, tls: true }) },
  { name: 'frp, mux, plain', needs: ['frps', 'frpc'], start: (on) => startFrp(on, { mux: true, tls: false }) },
  { name: 'frp, mux, TLS', needs: ['frps', 'frpc'], start: (on) => startFrp(on, { mux: true, tls: true }) },
  { name: 'rathole, plain', needs: ['rathole'], start: (on) => startRathole(on, { noise: false }) },
  { name: 'rathole, Noise', needs: ['rathole'], start: (on) => startRathole(on, { noise: true }) },
  { name: 'chisel (SSH)', needs: ['chisel'], start: startChisel },
  { name: 'nps, plain', needs: ['nps', 'npc'], start: (on) => startNps(on, { tls: false }) },
  { name: 'nps, TLS', needs: ['nps', 'npc'], start: (on) => startNps(on, { tls: true }) },
  { name: 'ssh -R', needs: ['sshd', 'ssh'], start: startSsh, udp: false },
];
