import { visibleNamePattern } from './visible-name.js';

// What the interface description says of applications beyond single rules. The code that checks it is named beside each.

const REST = '(?:[/?](?:(?!["<>\\\\^`{|}*#])[\\x21-\\x7e])*)?';
const PORT = '(?::(?:[0-9]{1,4}|[1-5][0-9]{4}))?';
const WEB =
  `https://(?:[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\\.)+[A-Za-z]{2,}${PORT}${REST}` +
  `|http://(?:127\\.0\\.0\\.1|\\[::1\\]|localhost)${PORT}${REST}`;
/** `readOutboundUrl`, for names of hosts: no address in numbers, and no name of a network of one's own. */
export const PUBLIC_HTTPS =
  '^https://(?:[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\\.)+(?!(?:localhost|localdomain|local|internal|arpa)(?:[:/?]|$))' +
  `[A-Za-z]{2,}${PORT}${REST}$`;
const NATIVE = '[a-z][a-z0-9+-]*(?:\\.[a-z0-9+-]+)+:/(?!/)(?:(?!["<>\\\\^`{|}*#])[\\x21-\\x7e])*';

/** `redirectUriProblem` */
const REDIRECT_URIS = { items: { type: 'string', maxLength: 2_000, pattern: `^(?:${WEB}|${NATIVE})$` } };
const WEB_REDIRECT_URIS = { items: { pattern: `^(?:${WEB})$` } };

const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const GROUP = '[0-9A-Fa-f]{1,4}';

/** `isAddressRange`; IPv6 in its usual spellings. */
const ADDRESSES = {
  items: {
    type: 'string',
    anyOf: [
      { pattern: `^${BYTE}(?:\\.${BYTE}){3}(?:/(?:3[0-2]|[12]?[0-9]))?$` },
      {
        pattern: `^(?:(?:${GROUP}:){7}${GROUP}|(?:${GROUP}:){1,6}:|(?:${GROUP}:){1,6}:${GROUP}|::(?:${GROUP}(?::${GROUP}){0,5})?)(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?$`,
      },
    ],
  },
};

const named = (): object => ({
  name: { pattern: visibleNamePattern() },
  redirect_uris: REDIRECT_URIS,
  ip_allow: ADDRESSES,
});

/** Only native applications have schemes of their own. */
export const newApplicationRule = (): Record<string, unknown> => ({
  properties: named(),
  if: { properties: { kind: { const: 'native' } }, required: ['kind'] },
  else: { properties: { redirect_uris: WEB_REDIRECT_URIS } },
});

export const applicationChangeRule = (): Record<string, unknown> => ({ properties: named() });

export const NEW_KEY_RULE = { properties: { ip_allow: ADDRESSES } };
