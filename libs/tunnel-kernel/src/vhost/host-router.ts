import type { HostConfig } from '../config.js';
import { canonicalHostName } from './authority.js';
import { loosePlaces } from './loose-path.js';
import { readLocation } from './request-target.js';

export type VisitorScheme = 'http' | 'https';

/** One segment of the locations of a name; segments are separated by slashes. */
interface LocationNode {
  /** The host whose location ends here, by the visitor's scheme. */
  http: HostConfig | null;
  https: HostConfig | null;
  children: Map<string, LocationNode> | null;
}

/** A location that refuses other spellings of itself. */
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
 * Finds the host for a request. The most specific matching name wins: the exact name, then wildcards from the longest,
 * then `*`. Within a name the longest location on a segment boundary wins, then a host for this scheme alone over one
 * for all, then the lowest id. If no host of a name matches, the next name is tried.
 */
export class HostRouter {
  private readonly exact = new Map<string, Site>();
  /** Keyed by what follows the `*`, with its dot. */
  private readonly wildcards = new Map<string, Site>();
  private fallback: Site | null = null;
  private anyStrict = false;

  /** Hosts with an invalid name or location are left out. */
  constructor(hosts: readonly HostConfig[]) {
    for (const host of [...hosts].sort((a, b) => a.id - b.id)) this.add(host);
  }

  /** `name` as from `readAuthority`, `path` as from `readTarget`. */
  match(name: string, path: string, scheme: VisitorScheme): HostConfig | null {
    const exact = this.exact.get(name);
    const found = exact ? longest(exact, path, scheme) : null;
    return found ?? this.matchOthers(name, path, scheme);
  }

  /** Whether an escaped slash could change which host serves a request for this name. */
  dependsOnPath(name: string): boolean {
    return this.sitesOf(name).some(({ root }) => root.children !== null);
  }

  /** Whether the path does not match a strict location of the name here, but could match it at a target. */
  evades(name: string, path: string): boolean {
    if (!this.anyStrict) return false;
    const strict = this.sitesOf(name).flatMap((site) => site.strict);
    if (strict.length === 0) return false;
    const places = loosePlaces(path);
    if (places === null) return true;
    return strict.some(({ exact, loose }) => !isBelow(path, exact) && places.some((place) => isBelow(place, loose)));
  }

  /** A host of the name by its id, whatever its location. */
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

  /** The most specific site comes first. */
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
      // Hosts come in the order of their ids: the first one stays, unless it serves all schemes and the other only this
      // one.
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

/** The deepest node along the path that has a host for the scheme. */
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
