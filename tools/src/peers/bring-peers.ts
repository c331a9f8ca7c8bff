import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PEERS, type Peer } from './catalogue.js';
import { Apt, hasSystemLists, isDebianLike, unpack } from './debian.js';
import { writeFontConfiguration } from './fonts.js';
import { findInPath, findInTree, libraryFolders } from './programs.js';
import { verifyProgram } from './verify.js';
import { writeWrapper } from './wrapper.js';

export interface PeerResult {
  program: string;
  state: 'found' | 'brought' | 'missing';
  detail: string;
}

export interface BringOptions {
  /** `<repo>/.gatehouse/peers` */
  folder: string;
  path: string;
  /** Bring own copies even of programs that the system has. */
  ownOnly: boolean;
  onProgress: (text: string) => void;
}

/** Finds each peer in PATH or unpacks it from its Debian package, below one folder and without changing the system. */
export async function bringPeers(options: BringOptions): Promise<PeerResult[]> {
  const results = new Map<string, PeerResult>();
  const wanted: Peer[] = [];
  for (const peer of PEERS) {
    const found = await useExisting(peer, options);
    if (found === undefined) wanted.push(peer);
    else results.set(peer.program, found);
  }
  if (wanted.length > 0) {
    for (const result of await bringPackages(wanted, options)) results.set(result.program, result);
  }
  return PEERS.flatMap(({ program }) => results.get(program) ?? []);
}

async function useExisting(peer: Peer, options: BringOptions): Promise<PeerResult | undefined> {
  const bin = join(options.folder, 'bin');
  if (!options.ownOnly) {
    const file = findInPath(peer.program, { path: options.path, except: bin });
    if (file !== undefined && (await verifyProgram(peer.program, file)) === undefined) {
      for (const program of [peer.program, ...peer.companions]) {
        const target = findInPath(program, { path: options.path, except: bin });
        if (target !== undefined) writeWrapper(bin, program, target, { libraries: [] });
      }
      return { program: peer.program, state: 'found', detail: file };
    }
  }
  return wrapUnpacked(peer, options);
}

/** Writes the wrappers of a peer that is unpacked already; undefined when it is not, or does not run. */
async function wrapUnpacked(peer: Peer, options: BringOptions): Promise<PeerResult | undefined> {
  const bin = join(options.folder, 'bin');
  const root = join(options.folder, 'root');
  const target = findInTree(peer.program, root, peer.file);
  if (target === undefined) return undefined;
  const surroundings = { libraries: libraryFolders(root), fonts: writeFontConfiguration(options.folder, root) };
  for (const program of peer.companions) {
    const file = findInTree(program, root);
    if (file !== undefined) writeWrapper(bin, program, file, surroundings);
  }
  const wrapper = writeWrapper(bin, peer.program, target, surroundings);
  const problem = await verifyProgram(peer.program, wrapper);
  if (problem === undefined) return { program: peer.program, state: 'brought', detail: wrapper };
  rmSync(wrapper, { force: true });
  return undefined;
}

async function bringPackages(peers: Peer[], options: BringOptions): Promise<PeerResult[]> {
  if (!isDebianLike()) {
    const detail = 'this system has no apt-get: install it with the system’s own package manager';
    return peers.map(({ program }) => ({ program, state: 'missing', detail }));
  }
  mkdirSync(options.folder, { recursive: true });
  const results: PeerResult[] = [];
  for (const peer of peers) {
    options.onProgress(`bringing ${peer.packages.join(' ')}`);
    results.push(await bringOne(peer, options));
  }
  rmSync(join(options.folder, 'cache'), { recursive: true, force: true });
  return results;
}

async function bringOne(peer: Peer, options: BringOptions): Promise<PeerResult> {
  try {
    await downloadAndUnpack(peer, options);
    const result = await wrapUnpacked(peer, options);
    return (
      result ?? {
        program: peer.program,
        state: 'missing',
        detail: `${peer.packages.join(' ')} unpacked, but does not run here`,
      }
    );
  } catch (error) {
    return { program: peer.program, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  }
}

async function downloadAndUnpack(peer: Peer, options: BringOptions): Promise<void> {
  const debs = join(options.folder, 'debs');
  const withSystemLists = async () => fetchPackage(new Apt(options.folder, false), peer.packages, debs);
  const withOwnLists = async () => {
    const apt = new Apt(options.folder, true);
    await apt.update();
    return fetchPackage(apt, peer.packages, debs);
  };
  // Lists of the system can be absent (containers) or name versions that the mirror has replaced since.
  const files = hasSystemLists() ? await withSystemLists().catch(withOwnLists) : await withOwnLists();
  for (const file of files) await unpack(join(debs, file), join(options.folder, 'root'));
}

async function fetchPackage(apt: Apt, names: string[], debs: string): Promise<string[]> {
  const files = await apt.filesFor(names);
  if (files.length === 0) throw new Error(`apt-get offers nothing to download for ${names.join(' ')}`);
  await apt.download(files, debs);
  return files.map(({ file }) => file);
}
