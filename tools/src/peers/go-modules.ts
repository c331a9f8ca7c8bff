import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { PeerResult } from './bring-peers.js';

const run = promisify(execFile);
const BUILD_LIMIT_MS = 20 * 60_000;

/** A peer that no distribution packages: built from its Go module, which the checksum database vouches for. */
interface GoPeer {
  program: string;
  module: string;
  version: string;
  /** Folder of the main package inside the module. */
  main: string;
  /** Build tags. */
  tags?: string;
}

const FRP = { module: 'github.com/fatedier/frp', version: 'v0.70.0' };

const GO_PEERS: readonly GoPeer[] = [
  { program: 'mihomo', module: 'github.com/metacubex/mihomo', version: 'v1.19.13', main: '.' },
  {
    program: 'sing-box',
    module: 'github.com/sagernet/sing-box',
    version: 'v1.12.12',
    main: './cmd/sing-box',
    tags: 'with_quic,with_utls,with_wireguard,with_gvisor',
  },
  { program: 'xray', module: 'github.com/xtls/xray-core', version: 'v1.260327.0', main: './main' },
  // Without the pages of its dashboard: the module has them unbuilt.
  { program: 'frps', ...FRP, main: './cmd/frps', tags: 'frps,noweb' },
  { program: 'frpc', ...FRP, main: './cmd/frpc', tags: 'frpc,noweb' },
  { program: 'chisel', module: 'github.com/jpillora/chisel', version: 'v1.11.3', main: '.' },
];

/**
 * Of a few lines each: a gRPC service with its caller, a client of OpenID Connect, and the OpenTelemetry Collector with the
 * parts that the tests use.
 */
const OWN_PEERS = ['grpc-go', 'go-oidc', 'otel-collector'] as const;

/** The fork of nps that is kept up. */
const NPS = { module: 'github.com/djylb/nps', version: 'v0.34.7' };

const NPS_PEERS: readonly GoPeer[] = [
  { program: 'nps', ...NPS, main: './cmd/nps' },
  { program: 'npc', ...NPS, main: './cmd/npc' },
];

const HELM: GoPeer = { program: 'helm', module: 'helm.sh/helm/v3', version: 'v3.22.0', main: './cmd/helm' };

/** Minutes of compiling, so only when asked for: `npm run peers -- --go`. Tests against these skip, saying so, without them. */
export async function bringGoPeers(folder: string, onProgress: (text: string) => void): Promise<PeerResult[]> {
  const results = await bringAll(GO_PEERS, folder, onProgress);
  for (const program of OWN_PEERS) results.push(await bringOwn(program, join(folder, 'bin'), onProgress));
  return results;
}

/** Builds a program of `tools/peers`, whose go.sum has a digest of every module. */
async function bringOwn(program: string, bin: string, onProgress: (text: string) => void): Promise<PeerResult> {
  const file = join(bin, program);
  if (existsSync(file)) return { program, state: 'found', detail: file };
  try {
    mkdirSync(bin, { recursive: true });
    onProgress(`building ${program}, which takes a minute or more`);
    await go(['build', '-C', join(ROOT, 'tools/peers', program), '-buildvcs=false', '-trimpath', '-o', file, '.']);
    return { program, state: 'brought', detail: file };
  } catch (error) {
    return { program, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  }
}

/** `npm run peers -- --helm`: renders and checks the chart in deploy/helm. */
export function bringHelm(folder: string, onProgress: (text: string) => void): Promise<PeerResult> {
  return bringOne(HELM, join(folder, 'bin'), onProgress);
}

/** `npm run peers -- --nps`. Not every Go proxy gives its module out: then programs of one's own do, of the same version. */
export async function bringNps(folder: string, onProgress: (text: string) => void): Promise<PeerResult[]> {
  const results = await bringAll(NPS_PEERS, folder, onProgress);
  return results.map((result) => {
    if (result.state !== 'missing') return result;
    const own = `a ${result.program} ${NPS.version} of your own in PATH or ${join(folder, 'bin')} is measured as well`;
    return { ...result, detail: `${result.detail}; ${own}` };
  });
}

async function bringAll(
  peers: readonly GoPeer[],
  folder: string,
  onProgress: (text: string) => void,
): Promise<PeerResult[]> {
  const results: PeerResult[] = [];
  for (const peer of peers) results.push(await bringOne(peer, join(folder, 'bin'), onProgress));
  return results;
}

async function bringOne(peer: GoPeer, bin: string, onProgress: (text: string) => void): Promise<PeerResult> {
  const { program, module, version, main, tags = '' } = peer;
  const file = join(bin, program);
  if (existsSync(file)) return { program, state: 'found', detail: file };
  try {
    mkdirSync(bin, { recursive: true });
    onProgress(`building ${module}@${version}, which takes minutes`);
    const folder = await download(module, version);
    await go(['build', '-C', folder, '-buildvcs=false', '-trimpath', '-tags', tags, '-o', file, main]);
    return { program, state: 'brought', detail: file };
  } catch (error) {
    return { program, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  }
}

/** Resolves to the folder of the module in Go's cache. */
export async function download(module: string, version: string): Promise<string> {
  const { Dir } = JSON.parse(await go(['mod', 'download', '-json', `${module}@${version}`])) as { Dir?: string };
  if (Dir === undefined) throw new Error(`the Go proxy has no ${module}@${version}`);
  return Dir;
}

/** Runs Go and resolves to what it prints. @throws an Error that says why it failed. */
export async function go(args: string[]): Promise<string> {
  try {
    const { stdout } = await run('go', args, { timeout: BUILD_LIMIT_MS, maxBuffer: 16 * 1_048_576 });
    return stdout;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
      throw new Error('Go is not installed: https://go.dev/dl', { cause });
    }
    throw new Error(`go ${args[0]}: ${lastWords(cause)}`, { cause });
  }
}

/** With `-json` Go says in what it prints why it failed. */
function lastWords(cause: unknown): string {
  if (!(cause instanceof Error && 'stderr' in cause && 'stdout' in cause)) return String(cause);
  const said = /"Error": "(.*)"/.exec(String(cause.stdout))?.[1]?.replaceAll('\\n', ' ').replaceAll('\\t', '');
  return said ?? String(cause.stderr).trim().split('\n').at(-1) ?? '';
}
