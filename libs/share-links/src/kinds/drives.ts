import { decodeText } from '../access-code.js';
import type { ShareLinkKind } from '../share-link.js';

/** A share found in the address of a site. */
export interface FoundShare {
  readonly id: string;
  /** Address of the share on the same site, without an access code. */
  readonly url: string;
  /** What followed the id in the path, decoded: codes are glued there. */
  readonly rest: string;
}

export interface DriveKind {
  readonly kind: ShareLinkKind;
  /** A host as it is, or with a leading dot: that domain and everything below it. */
  readonly hosts: readonly string[];
  readonly find: (address: URL) => FoundShare | undefined;
  /** The fragment as a whole is the access code. */
  readonly codeFragment?: RegExp;
}

/** Nothing that could belong to an id may follow it: half an id is another share. */
const END = String.raw`(?![\w-])`;
const MAX_ID = 128;

/** Finds `/s/{id}` and the like in the decoded path; the pattern's first group is the id. */
function inPath(pattern: string, url: (address: URL, id: string) => string, fold = false): DriveKind['find'] {
  const matcher = new RegExp(`^${pattern}${END}`);
  return (address) => {
    const path = decodeText(address.pathname);
    const match = matcher.exec(fold ? path.toLowerCase() : path);
    const id = match?.[1];
    if (match === null || id === undefined || id.length > MAX_ID) return undefined;
    return { id, url: url(address, id), rest: path.slice(match[0].length) };
  };
}

const atHost =
  (before: string) =>
  ({ hostname }: URL, id: string): string =>
    `https://${hostname}${before}${id}`;

/** The first of several shapes that matches. */
const oneOf =
  (...shapes: readonly DriveKind['find'][]): DriveKind['find'] =>
  (address) => {
    for (const find of shapes) {
      const found = find(address);
      if (found !== undefined) return found;
    }
    return undefined;
  };

/** Looks into the fragment of a site that routes there, as if it were the path. */
const inFragment =
  (find: DriveKind['find']): DriveKind['find'] =>
  (address) => {
    if (!address.hash.startsWith('#/')) return undefined;
    const inner = URL.parse(address.hash.slice(1), address.origin);
    return inner === null ? undefined : find(inner);
  };

/** For one host only of those of a kind. */
const onHost =
  (host: string, find: DriveKind['find']): DriveKind['find'] =>
  (address) =>
    address.hostname === host ? find(address) : undefined;

/** An id in a parameter of the query: `?surl={id}`. */
function inQuery(
  path: RegExp,
  parameter: string,
  build: (value: string) => Omit<FoundShare, 'rest'>,
): DriveKind['find'] {
  return (address) => {
    if (!path.test(address.pathname)) return undefined;
    const text = (address.searchParams.get(parameter) ?? '').normalize('NFKC');
    const value = /^[\w-]+/.exec(text)?.[0];
    if (value === undefined || value.length > MAX_ID) return undefined;
    return { ...build(value), rest: text.slice(value.length) };
  };
}

/** The place within the share that the fragment points at, where the site knows such. */
const placeOf = ({ hash }: URL): string => /^#\/list\/share\/[\w-]{1,64}/.exec(hash)?.[0] ?? '';

const findQuark = inPath(
  '/s/([0-9a-f]{8,32})',
  (address, id) => `https://${address.hostname}/s/${id}${placeOf(address)}`,
  true,
);

const onBaidu = (path: string): string => `https://pan.baidu.com${path}`;

const findBaidu = oneOf(
  onHost('eyun.baidu.com', inPath(String.raw`/s/([\w-]+)`, atHost('/s/'))),
  inPath(String.raw`/s/(1[\w-]+)`, (_, id) => onBaidu(`/s/${id}`)),
  inQuery(/^\/(?:share|wap)\/init$/, 'surl', (value) => ({ id: `1${value}`, url: onBaidu(`/s/1${value}`) })),
  inPath(String.raw`/(e/[\w-]+)`, atHost('/')),
  inPath(String.raw`/doc/share/([\w-]+)`, atHost('/doc/share/')),
);

const folderOf = ({ pathname }: URL): string => /\/folder\/[0-9a-f]{1,64}/.exec(pathname)?.[0] ?? '';

const findAliyun = oneOf(
  inPath('/s/([A-Za-z0-9]+)', (address, id) => `https://${address.hostname}/s/${id}${folderOf(address)}`),
  onHost('alywp.net', inPath('/([A-Za-z0-9]+)', atHost('/'))),
);

const onTianyi = (_: unknown, id: string): string => `https://cloud.189.cn/t/${id}`;
const findTianyiPath = oneOf(inPath('/t/([A-Za-z0-9]+)', onTianyi), inPath('/share/([A-Za-z0-9]+)', onTianyi));

const findTianyi = oneOf(
  inFragment(findTianyiPath),
  findTianyiPath,
  inQuery(/^\/web\/share$/, 'code', (value) => ({ id: value, url: onTianyi(undefined, value) })),
);

/** `/m/i?{id}`: the id is the name of the first parameter. */
const findMobileQuery: DriveKind['find'] = ({ pathname, search, hostname }) => {
  const id = pathname === '/m/i' ? /^\?([A-Za-z0-9]{1,128})(?=&|$)/.exec(search)?.[1] : undefined;
  return id === undefined ? undefined : { id, url: `https://${hostname}/m/i?${id}`, rest: '' };
};

const findMobile = oneOf(
  onHost('caiyun.feixin.10086.cn', inPath('/([A-Za-z0-9]+)', atHost('/'))),
  inFragment(inPath('/w/i/([A-Za-z0-9]+)', (_, id) => `https://yun.139.com/shareweb/#/w/i/${id}`)),
  inPath('/w/i/([A-Za-z0-9]+)', atHost('/w/i/')),
  findMobileQuery,
);

const find115 = oneOf(
  inPath('/s/([a-z0-9]+)', atHost('/s/'), true),
  onHost(
    'share.115.com',
    inPath('/([a-z0-9]+)', (_, id) => `https://115.com/s/${id}`, true),
  ),
);

const isPublic = ({ searchParams }: URL): string => (searchParams.get('public') === '1' ? '?public=1' : '');

/** Sites whose shares are known by their ids. */
export const DRIVES: readonly DriveKind[] = [
  { kind: '115', hosts: ['.115.com', '.115cdn.com', '.anxia.com'], find: find115 },
  {
    kind: '123',
    hosts: ['.123pan.com', '.123pan.cn', '.123684.com', '.123685.com', '.123865.com', '.123912.com', '.123592.com'],
    find: inPath(String.raw`/s/([\w-]+)`, atHost('/s/')),
  },
  { kind: 'quark', hosts: ['pan.quark.cn'], find: findQuark },
  {
    kind: 'baidu',
    hosts: ['pan.baidu.com', 'yun.baidu.com', 'eyun.baidu.com'],
    find: findBaidu,
    codeFragment: /^#([A-Za-z0-9]{4})$/,
  },
  { kind: 'aliyun', hosts: ['.alipan.com', '.aliyundrive.com', 'alywp.net'], find: findAliyun },
  { kind: 'tianyi', hosts: ['cloud.189.cn', 'h5.cloud.189.cn'], find: findTianyi },
  { kind: 'xunlei', hosts: ['pan.xunlei.com'], find: inPath(String.raw`/s/(V[\w-]+)`, atHost('/s/')) },
  {
    kind: 'uc',
    hosts: ['drive.uc.cn', 'fast.uc.cn'],
    find: inPath('/s/([0-9a-f]{8,32})', (address, id) => atHost('/s/')(address, id) + isPublic(address), true),
  },
  { kind: 'mobile', hosts: ['yun.139.com', 'caiyun.139.com', 'caiyun.feixin.10086.cn'], find: findMobile },
  { kind: 'guangya', hosts: ['.guangyapan.com'], find: inPath(String.raw`/s/([\w-]+)`, atHost('/s/')) },
  { kind: 'pikpak', hosts: ['.mypikpak.com'], find: inPath(String.raw`/s/([\w-]+)`, atHost('/s/')) },
];

/** The kind whose site a host is: exactly, or below a domain that stands with a leading dot. */
export function driveOf(host: string): DriveKind | undefined {
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return DRIVES.find(({ hosts }) =>
    hosts.some((known) => (known.startsWith('.') ? `.${name}`.endsWith(known) : name === known)),
  );
}
