/** What is fuzzed: each takes any bytes, and may fail only in the ways that its contract names. */
import {
  formatRuleLine,
  GeoDatabaseError,
  KernelConfigError,
  openAsnDatabase,
  openCountryDatabase,
  openGeositeFile,
  parseRuleLine,
  parseRuleSet,
  RuleSetFileError,
} from '@gatehouse/proxy-kernel';
import {
  fingerprintNode,
  formatClashDocument,
  FormatError,
  formatNodeLine,
  parseLink,
  parseProfileHeaders,
  parseRawConfig,
  parseSubscription,
  parseUserinfo,
} from '@gatehouse/subscription-formats';
import { formatFullUrl, parseShareLink, parseShareLinks, ShareLinkError } from '@gatehouse/share-links';
import * as seeds from './seeds.js';
import { TUNNEL_TARGETS } from './tunnel-targets.js';
import type { FuzzTarget } from './fuzz-target.js';

type ErrorClass = abstract new (...args: never[]) => Error;

/** Runs; only errors of these classes are answers, everything else is a crash. */
function allowing(classes: readonly ErrorClass[], run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!classes.some((allowed) => error instanceof allowed)) throw error;
  }
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`broken promise: ${what}`);
}

/** Never throws, and what was read can be written and read again. */
function readDocument(input: Uint8Array | string): void {
  const result = parseSubscription(input, { profile: true });
  const nodes = result.nodes.map(({ node }) => node);
  check(
    result.error !== undefined ||
      result.nodes.length + result.skipped.length + result.infoNodes.length > 0 ||
      (result.profile?.proxyProviders.length ?? 0) > 0,
    'empty is an error',
  );
  const again = parseSubscription(formatClashDocument(nodes.slice(0, 20)));
  const prints = again.nodes.map(({ fingerprint }) => fingerprint);
  check(
    result.nodes.slice(0, 20).every(({ fingerprint }, index) => prints[index] === fingerprint),
    'a Clash document reads back',
  );
}

const reread = (read: () => ReturnType<typeof parseLink>): void =>
  allowing([FormatError], () => {
    const node = read();
    const print = fingerprintNode(node);
    check(fingerprintNode(parseRawConfig('', formatNodeLine(node))) === print, 'a node reads back');
  });

/** Around the edges of the tree. */
const LOOKED_UP = ['0.0.0.0', '10.0.0.1', '127.255.255.255', '255.255.255.255', '::', '2001:db8::1', '::ffff:8.8.8.8'];

export const TARGETS: Readonly<Record<string, FuzzTarget>> = {
  ...TUNNEL_TARGETS,
  links: { seeds: seeds.LINKS, run: (input) => reread(() => parseLink(input.toString())) },
  'share-links': {
    seeds: seeds.SHARE_LINKS,
    run: (input) =>
      allowing([ShareLinkError], () => {
        for (const { kind, key, accessCode, fullUrl } of parseShareLinks(input.toString())) {
          check(formatFullUrl({ kind, url: fullUrl, accessCode }) === fullUrl, 'an access code is not written twice');
          // Escapes make an address longer than texts may be.
          if (Buffer.byteLength(fullUrl) > 2_048) continue;
          const again = parseShareLink(fullUrl);
          check(again.key === key && again.accessCode === accessCode, 'a full address reads back');
        }
      }),
  },
  'raw-config': {
    seeds: [...seeds.LINKS, ...seeds.CLASH, ...seeds.SURGE],
    run: (input) => reread(() => parseRawConfig('', input.toString())),
  },
  lists: { seeds: [seeds.LINKS.join('\n'), seeds.LINKS.join('\r\n')], run: readDocument },
  base64: {
    seeds: [seeds.LINKS.join('\n'), ...seeds.CLASH],
    run: readDocument,
    wrap: (input) => Buffer.from(input.toString('base64').replace(/.{76}/g, '$&\n')),
  },
  yaml: { seeds: seeds.CLASH, run: readDocument },
  json: { seeds: seeds.JSON_DOCUMENTS, run: readDocument },
  ssd: { seeds: seeds.SSD, run: readDocument, wrap: (input) => Buffer.from(`ssd://${input.toString('base64')}`) },
  surge: { seeds: seeds.SURGE, run: readDocument },
  headers: {
    seeds: seeds.HEADERS,
    run: (input) => {
      const text = input.toString('latin1');
      parseUserinfo(text)?.expireAt?.toISOString();
      const { title, announce } = parseProfileHeaders({
        'profile-title': text,
        'content-disposition': text,
        'profile-web-page-url': text,
        'profile-update-interval': text,
        announce: text,
      });
      check((title ?? '').isWellFormed() && (announce ?? '').isWellFormed(), 'texts are well-formed');
    },
  },
  rules: {
    seeds: seeds.RULES,
    run: (input) => {
      for (const line of input.toString().split('\n')) {
        allowing([KernelConfigError], () => {
          const rule = parseRuleLine(line);
          const text = formatRuleLine(rule);
          check(formatRuleLine(parseRuleLine(text)) === text, 'a rule reads back');
        });
      }
    },
  },
  'rule-sets': {
    seeds: seeds.RULE_SETS,
    run: (input) => {
      for (const format of ['text', 'yaml'] as const) {
        for (const behavior of ['domain', 'ipcidr', 'classical'] as const) {
          allowing([RuleSetFileError], () => void parseRuleSet(input, { format, behavior }));
        }
      }
    },
  },
  mrs: {
    seeds: seeds.MRS_BODIES,
    wrap: seeds.packMrs,
    run: (input) => {
      for (const behavior of ['domain', 'ipcidr'] as const) {
        allowing([RuleSetFileError], () => void parseRuleSet(input, { format: 'mrs', behavior }));
      }
    },
  },
  mmdb: {
    seeds: seeds.DATABASES,
    run: (input) => {
      allowing([GeoDatabaseError], () => {
        const countries = openCountryDatabase(input);
        for (const address of LOOKED_UP) countries.lookup(address);
      });
      allowing([GeoDatabaseError], () => {
        const systems = openAsnDatabase(input);
        for (const address of LOOKED_UP) systems.lookup(address);
      });
    },
  },
  geosite: {
    seeds: seeds.GEOSITES,
    run: (input) =>
      allowing([GeoDatabaseError], () => {
        const file = openGeositeFile(input);
        for (const code of file.codes.slice(0, 100)) file.entries(code);
      }),
  },
};
