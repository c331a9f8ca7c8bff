import type { HostConfig } from '../config.js';
import { canonicalHostName } from './authority.js';
import { loosePlaces } from './loose-path.js';
import { readLocation } from './request-target.js';

export type VisitorScheme = 'http' | 'https';

/** One segment of the locations of a name; segments are separated by slashes. */
interface LocationNode {
  /** The host that ends here, for each scheme of visitors. */
  http: HostConfig | null;
  https: HostConfig | null;
  children: Map<string, LocationNode> | null;
}

/** A location whose other spellings are refused. */
interface StrictLocation {
  exact: string;
  loose: string;
}

/** The locations of one name. */
interface Site {
  root: LocationNode;
  strict: StrictLocation[];
}

/**
 * Finds who serves a request. The most special name that takes the request wins: the exact one, then wildcards from the
 * longest on, then `*`; within a name the longest location on a segment boundary; then a host for this scheme alone
 * before one for all; then the lowest id. A name none of whose hosts takes the request leaves it to the next name.
 */
export class HostRouter {
  private readonly exact = new Map<string, Site>();
  /** By what follows the `*`, with its dot. */
  private readonly wildcards = new Map<string, Site>();
  private fallback: Site | null = null;
  private anyStrict = false;

  /** Hosts whose name or location is not one are left out. */
  constructor(hosts: readonly HostConfig[]) {
    for (const host of [...hosts].sort((a, b) => a.id - b.id)) this.add(host);
  }

  /** `name` as of `readAuthority`, `path` as of `readTarget`. */
  match(name: string, path: string, scheme: VisitorScheme): HostConfig | null {
    const exact = this.exact.get(name);
    const found = exact ? longest(exact, path, scheme) : null;
    return found ?? this.matchOthers(name, path, scheme);
  }

  /** Whether an escaped slash could change who serves a request for this name. */
  dependsOnPath(name: string): boolean {
    return this.sitesOf(name).some(({ root }) => root.children !== null);
  }

  /** Whether the path is no spelling of ours of a strict location of the name, but could be one to a target. */
  evades(name: string, path: string): boolean {
    if (!this.anyStrict) return false;
    const strict = this.sitesOf(name).flatMap((site) => site.strict);
    if (strict.length === 0) return false;
    const places = loosePlaces(path);
    if (places === null) return true;
    return strict.some(({ exact, loose }) => !isBelow(path, exact) && places.some((place) => isBelow(place, loose)));
  }

  /** One of those that take requests for the name, whatever its location. */
  byId(name: string, id: number, scheme: VisitorScheme): HostConfig | null {
    for (const site of this.sitesOf(name)) {
      const found = findById(site.root, id, scheme);
      if (found) return found;
    }
    return null;
  }

  private matchOthers(name: string, path: string, scheme: VisitorScheme): HostConfig | null {
    for (const site of this.sitesOf(name)) {
      const found = longest(site, path, scheme);
      if (found) return found;
    }
    return null;
  }

  /** From the most special on. */
  private sitesOf(name: string): Site[] {
    const sites = [this.exact.get(name)];
    if (this.wildcards.size > 0) {
      for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
        sites.push(this.wildcards.get(name.slice(dot)));
      }
    }
    sites.push(this.fallback ?? undefined);
    return sites.filter((site) => site !== undefined);
  }

  private add(host: HostConfig): void {
    const location = readLocation(host.location);
    const site = location === null ? null : this.site(host.host);
    if (site === null || location === null) return;
    if (host.strictPath === true) this.addStrict(site, location);
    let node = site.root;
    for (const segment of location === '/' ? [] : location.slice(1).split('/')) {
      node.children ??= new Map();
      const child = node.children.get(segment) ?? emptyNode();
      node.children.set(segment, child);
      node = child;
    }
    for (const scheme of ['http', 'https'] as const) {
      if (host.scheme !== 'all' && host.scheme !== scheme) continue;
      const other = node[scheme];
      // In the order of ids: the first stays, unless it is for all schemes and this one is not.
      if (other === null || (other.scheme === 'all' && host.scheme !== 'all')) node[scheme] = host;
    }
  }

  private addStrict(site: Site, exact: string): void {
    const loose = loosePlaces(exact)?.at(-1);
    // Everything is below `/` in every spelling.
    if (loose === undefined || exact === '/') return;
    site.strict.push({ exact, loose });
    this.anyStrict = true;
  }

  private site(pattern: string): Site | null {
    if (pattern === '*') return (this.fallback ??= emptySite());
    const wildcard = pattern.startsWith('*.');
    const name = canonicalHostName(wildcard ? pattern.slice(2) : pattern) ?? bracketedAddress(pattern);
    if (name === null) return null;
    const key = wildcard ? `.${name}` : name;
    const table = wildcard ? this.wildcards : this.exact;
    const site = table.get(key) ?? emptySite();
    table.set(key, site);
    return site;
  }
}

function bracketedAddress(pattern: string): string | null {
  return /^\[[0-9a-f:.]+\]$/i.test(pattern) ? pattern.toLowerCase() : null;
}

function emptySite(): Site {
  return { root: emptyNode(), strict: [] };
}

function isBelow(path: string, location: string): boolean {
  return path === location || path.startsWith(`${location}/`) || location === '/';
}

function emptyNode(): LocationNode {
  return { http: null, https: null, children: null };
}

function findById(node: LocationNode, id: number, scheme: VisitorScheme): HostConfig | null {
  if (node[scheme]?.id === id) return node[scheme];
  for (const child of node.children?.values() ?? []) {
    const found = findById(child, id, scheme);
    if (found) return found;
  }
  return null;
}

/** The deepest node on the way along the path that has a host for the scheme. */
function longest({ root }: Site, path: string, scheme: VisitorScheme): HostConfig | null {
  let best = root[scheme];
  let node = root;
  let start = 1;
  while (node.children !== null) {
    const slash = path.indexOf('/', start);
    const child = node.children.get(slash < 0 ? path.slice(start) : path.slice(start, slash));
    if (!child) break;
    best = child[scheme] ?? best;
    if (slash < 0) break;
    node = child;
    start = slash + 1;
  }
  return best;
}
